import { beforeAll, describe, expect, it } from "vitest";
import { refusalCodes } from "#domain/refusal";
import { groups } from "#api/groups";
import { browserWith, sessionOf } from "../support/browser.ts";
import { signedIn, visit } from "../support/client.ts";
import { pageOf, textOf, type Page } from "../support/html.ts";
import { bootableBuild } from "../support/testdrives.ts";

let answer: Response;
/** The page of all calls and errors. */
let html: string;
/** The pages of the groups, by their addresses. */
let pages: Map<string, string>;

beforeAll(async () => {
  answer = await visit("/api/docs");
  html = await answer.text();
  const addresses = new Set([...html.matchAll(/href="(\/api\/docs\/[^"#]+)"/g)].map(([, address = ""]) => address));
  const read = [...addresses].map(async (address) => [address, await (await visit(address)).text()] as const);
  pages = new Map(await Promise.all(read));
});

const idsIn = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);
const pageAt = (address: string): string => (address === "/api/docs" ? html : (pages.get(address) ?? ""));

it("has the usual layout, without a script in it", () => {
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(
    /<script(?![^>]* src="\/assets\/)|style=|https?:\/\/(?!kiln\.test|kiln\.example\.org|[a-z]+\.example\.org)/,
  );
});

it("describes every call on the page of its group, lists every code, and has no broken link", () => {
  expect(pages.size).toBe(groups.length);
  const described = [...pages.values()].flatMap((text) => [...text.matchAll(/<article id="([^"]+)"/g)]);
  const calls = groups.flatMap(({ operations }) => operations.map(({ name }) => name));
  expect(described.map(([, id]) => id)).toEqual(calls);
  expect(idsIn(html)).toEqual(expect.arrayContaining(refusalCodes.map((code) => `error-${code}`)));
  for (const [from, text] of [["/api/docs", html] as const, ...pages]) {
    expect(new Set(idsIn(text)).size).toBe(idsIn(text).length);
    for (const [, address = "", id = ""] of text.matchAll(/href="((?:\/api\/docs)?[^"#]*)#([^"]+)"/g))
      expect(idsIn(pageAt(address || from)), `${from} → ${address}#${id}`).toContain(id);
  }
});

it("has no page for a group that does not exist", async () => {
  expect((await visit("/api/docs/nonsense")).status).toBe(404);
});

it("shows a call's parameters, answers and errors", () => {
  const call = /<article id="addPackage">.*?<\/article>/s.exec(pageAt("/api/docs/software"))?.[0] ?? "";

  expect(call).toContain("/appliances/{appliance_id}/cmd/add_package");
  for (const name of ["appliance_id", "name", "version", "repository_id"])
    expect(call).toContain(`<code>${name}</code>`);
  expect(call).toContain("&lt;packages_added&gt;");
  expect(call).toContain('href="/api/docs#error-invalid_repository_id"');
});

it("is also available as OpenAPI", async () => {
  const document = await (await visit("/api/openapi.json")).json<{ servers: { url: string }[]; paths: object }>();

  expect(document.servers).toEqual([{ url: "https://kiln.test" }]);
  expect(Object.keys(document.paths)).toContain("/api/v1/user/appliances/{appliance_id}/cmd/add_package");
});

it("lists every call for assistants in /llms.txt, with links into the pages", async () => {
  const text = await visit("/llms.txt");
  const body = await text.text();
  const calls = groups.flatMap(({ operations }) => operations).filter(({ versions }) => versions.includes("v2"));
  const link = /^- \[.+\]\(https:\/\/kiln\.test(\/api\/docs\/[\w-]+)#(\w+)\): `[A-Z]+ \//gm;
  const linked = [...body.matchAll(link)].map(([, address = "", id = ""]) => ({ address, id }));

  expect(text.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(body).toMatch(/^# Kiln\n\n> Kiln builds/);
  for (const [, other = ""] of body.matchAll(/\]\(https:\/\/kiln\.test(\/[^)#]+)\)/g))
    expect((await visit(other)).status).toBe(200);
  expect(body).toContain("https://kiln.test/schema/appliance.json");
  expect(linked.map(({ id }) => id)).toEqual(calls.filter(({ deprecated }) => !deprecated).map(({ name }) => name));
  expect(linked.filter(({ address, id }) => !idsIn(pageAt(address)).includes(id))).toEqual([]);
});

const lineOf = (page: Page, name: string) => textOf(page, `#curl-${name}`);

describe("the lines for a shell", () => {
  it("are filled with the reader's own ids, and never with the key", async () => {
    const tux = await signedIn();
    const { applianceId, id } = await bootableBuild(tux);
    const own = browserWith((await sessionOf(tux)).secret);
    const source = await (await own.get("/api/docs/software")).text();
    const page = await pageOf(new Response(source));
    const api = "https://kiln.test/api/v2/user";
    const finished = await pageOf(own.get("/api/docs/finished-builds"));
    expect(lineOf(finished, "getBuild")).toBe(`curl -u ${tux.username}:KEY ${api}/builds/${id}`);
    expect(lineOf(page, "addPackage")).toBe(
      `curl -u ${tux.username}:KEY -X POST '${api}/appliances/${applianceId}/cmd/add_package?name=NAME'`,
    );
    expect(source).not.toContain(tux.apiKey);
    expect(page.querySelector("[data-copy=curl-addPackage]")).not.toBeNull();
  });

  it("name in capitals what only the reader knows", async () => {
    const page = await pageOf(new Response([...pages.values()].join("")));
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
