import { beforeAll, describe, expect, it } from "vitest";
import { refusalCodes } from "#domain/refusal";
import { groups } from "#api/groups";
import { browserWith, sessionOf } from "../support/browser.ts";
import { signedIn, visit } from "../support/client.ts";
import { pageOf, textOf, type Page } from "../support/html.ts";
import { bootableBuild } from "../support/testdrives.ts";

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

it("lists every call for assistants in /llms.txt, with links into the page", async () => {
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

const lineOf = (page: Page, name: string) => textOf(page, `#curl-${name}`);

describe("the lines for a shell", () => {
  it("are filled with the reader's own ids, and never with the key", async () => {
    const tux = await signedIn();
    const { applianceId, id } = await bootableBuild(tux);
    const own = browserWith((await sessionOf(tux)).secret);
    const source = await (await own.get("/api/docs")).text();
    const page = await pageOf(new Response(source));
    const api = "https://kiln.test/api/v2/user";
    expect(lineOf(page, "getBuild")).toBe(`curl -u ${tux.username}:KEY ${api}/builds/${id}`);
    expect(lineOf(page, "addPackage")).toBe(
      `curl -u ${tux.username}:KEY -X POST '${api}/appliances/${applianceId}/cmd/add_package?name=NAME'`,
    );
    expect(source).not.toContain(tux.apiKey);
    expect(page.querySelector("[data-copy=curl-getBuild]")).not.toBeNull();
  });

  it("name in capitals what only the reader knows", async () => {
    const page = await pageOf(new Response(html));
    expect(lineOf(page, "revokeToken")).toBe(
      "curl -u NAME:KEY -X DELETE https://kiln.test/api/v2/user/tokens/TOKEN_ID",
    );
    expect(lineOf(page, "getBuild")).toContain("/builds/BUILD_ID");
    for (const { name } of groups.flatMap(({ operations }) => operations)) {
      expect(lineOf(page, name), name).toMatch(/^curl -u NAME:KEY .*https:\/\/kiln\.test\/api\/v[12]\/user\//);
    }
  });
});

it("lists the calls by method and path, and finds them without a script", async () => {
  const all = await pageOf(new Response(html));
  const count = groups.flatMap(({ operations }) => operations).length;
  expect(all.querySelectorAll("#call-list li")).toHaveLength(count);
  const found = await pageOf(visit("/api/docs?q=DELETE+token"));
  expect(textOf(found, "#call-list")).toMatch(/^DELETE \/tokens\/\{token_id\} Revoke a token[^/]*$/);
  const none = await pageOf(visit("/api/docs?q=nonsense%3Cb%3E"));
  expect(none.querySelectorAll("#call-list li")).toHaveLength(0);
  expect(none.querySelector("#call-list-none")?.hasAttribute("hidden")).toBe(false);
});
