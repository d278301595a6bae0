import { describe, expect, it } from "vitest";
import { api } from "#api/index";
import { shown } from "#api/errors";
import { Refusal } from "#domain/refusal";
import { groups } from "#openapi/operations";
import { parametersOf } from "#openapi/parameters";
import { xmlExample } from "#wire/example";
import { both } from "#openapi/operation";

const operations = groups.flatMap(({ operations }) => operations);

/** A path with its parameters made nameless, as the routes and the description call them differently. */
const nameless = (path: string) => path.replace(/:\w+(\{[^}]*\})?|\{\w+\}/g, "{}");

describe("the table of operations", () => {
  // What came with version 2 has routes in version 1 too, which answer that there is nothing: see the table of all calls.
  it.each(both)("knows every route of %s, and nothing else", (version) => {
    const prefix = `/${version}/user`;
    const routes = api.routes
      .filter(({ method, path }) => method !== "ALL" && path.startsWith(prefix))
      .map(({ method, path }) => `${method} ${nameless(path.slice(prefix.length))}`);
    const described = operations.map(({ method, path }) => `${method} ${nameless(path)}`);

    expect(described.toSorted()).toEqual([...new Set(routes)].toSorted());
  });

  it("names each call once", () => {
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  });

  it.each(operations.map((operation) => [operation.name, operation] as const))(
    "says what every parameter of %s means",
    (_name, operation) => {
      expect(parametersOf(operation).filter(({ meaning }) => meaning === "")).toEqual([]);
    },
  );

  it("gives each unknown id in a path its code", () => {
    const ids = operations.filter(({ path }) => path.includes("_id}"));
    expect(ids.filter(({ unknown }) => !unknown?.length).map(({ name }) => name)).toEqual([]);
    for (const { unknown = [] } of operations) {
      for (const code of unknown) expect(shown(new Refusal(code, { reason: "unknown" })).status).toBe(404);
    }
  });

  it("has an example of every document", () => {
    for (const { answer } of operations) {
      if (answer.kind !== "document") continue;
      for (const version of both)
        expect(xmlExample(answer.document, version)).toMatch(new RegExp(`^<${answer.document.root}`));
    }
  });
});
