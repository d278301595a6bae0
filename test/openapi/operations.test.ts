import { describe, expect, it } from "vitest";
import { api } from "#api/index";
import { shown } from "#api/errors";
import { Refusal } from "#domain/refusal";
import { groups } from "#api/groups";
import { parametersOf } from "#openapi/parameters";
import { xmlExample } from "#lib/wire/example";
import { both } from "#api/operation";

const operations = groups.flatMap(({ operations }) => operations);

/** A path with its parameters' names removed: the routes and the description name them differently. */
const nameless = (path: string) => path.replace(/:\w+(\{[^}]*\})?|\{\w+\}/g, "{}");

describe("the table of operations", () => {
  // Calls that are new in version 2 also have version 1 routes, which answer 404: see the table of all calls.
  it.each(both)("lists exactly the routes of %s", (version) => {
    const prefix = `/${version}/user`;
    const routes = api.routes
      .filter(({ method, path }) => method !== "ALL" && path.startsWith(prefix))
      .map(({ method, path }) => `${method} ${nameless(path.slice(prefix.length))}`);
    const described = operations.map(({ method, path }) => `${method} ${nameless(path)}`);

    expect(described.toSorted()).toEqual([...new Set(routes)].toSorted());
  });

  it("has a unique name for each call", () => {
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  });

  it.each(operations.map((operation) => [operation.name, operation] as const))(
    "describes every parameter of %s",
    (_name, operation) => {
      expect(parametersOf(operation).filter(({ meaning }) => meaning === "")).toEqual([]);
    },
  );

  it("has an error code for each unknown id in a path", () => {
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
