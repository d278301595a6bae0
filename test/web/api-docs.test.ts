import { beforeAll, expect, it } from "vitest";
import { refusalCodes } from "#domain/refusal";
import { groups } from "#api/groups";
import { visit } from "../support/client.ts";

let answer: Response;
let html: string;

beforeAll(async () => {
  answer = await visit("/api/docs");
  html = await answer.text();
});

it("has the usual layout, without a script in it", () => {
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(
    /<script(?![^>]* src="\/assets\/)|style=|https?:\/\/(?!kiln\.test|kiln\.example\.org|[a-z]+\.example\.org)/,
  );
});

it("contains every call and code, and no broken link", () => {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);

  expect(ids).toEqual(expect.arrayContaining(groups.flatMap(({ operations }) => operations.map(({ name }) => name))));
  expect(ids).toEqual(expect.arrayContaining(refusalCodes.map((code) => `error-${code}`)));
  expect(new Set(ids).size).toBe(ids.length);
  expect(links.filter((id) => !ids.includes(id))).toEqual([]);
});

it("shows a call's parameters, answers and errors", () => {
  const call = /<article id="addPackage">.*?<\/article>/s.exec(html)?.[0] ?? "";

  expect(call).toContain("/appliances/{appliance_id}/cmd/add_package");
  for (const name of ["appliance_id", "name", "version", "repository_id"])
    expect(call).toContain(`<code>${name}</code>`);
  expect(call).toContain("&lt;packages_added&gt;");
  expect(call).toContain('href="#error-invalid_repository_id"');
});

it("is also available as OpenAPI", async () => {
  const document = await (await visit("/api/openapi.json")).json<{ servers: { url: string }[]; paths: object }>();

  expect(document.servers).toEqual([{ url: "https://kiln.test" }]);
  expect(Object.keys(document.paths)).toContain("/api/v1/user/appliances/{appliance_id}/cmd/add_package");
});

it("tells assistants of every call in /llms.txt, with links into the page", async () => {
  const text = await visit("/llms.txt");
  const body = await text.text();
  const calls = groups.flatMap(({ operations }) => operations).filter(({ versions }) => versions.includes("v2"));
  const linked = [...body.matchAll(/^- \[.+\]\(https:\/\/kiln\.test\/api\/docs#(\w+)\): `[A-Z]+ \//gm)].map(
    ([, id]) => id,
  );

  expect(text.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(body).toMatch(/^# Kiln\n\n> Kiln builds/);
  for (const [, other = ""] of body.matchAll(/\]\(https:\/\/kiln\.test(\/[^)#]+)\)/g))
    expect((await visit(other)).status).toBe(200);
  expect(body).toContain("https://kiln.test/schema/appliance.json");
  expect(linked).toEqual(calls.filter(({ deprecated }) => !deprecated).map(({ name }) => name));
  expect(linked.filter((id) => !html.includes(` id="${id}"`))).toEqual([]);
});
