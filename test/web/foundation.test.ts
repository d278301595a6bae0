/** The common parts of all pages: frame, errors, colours, forms. */
import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { browser, browserWith, sessionOf, sessionsPage } from "../support/browser.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { pageOf, textOf } from "../support/html.ts";

const html = { accept: "text/html,application/xhtml+xml" };
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
});

describe("the frame", () => {
  it("offers to sign in, and to come back", async () => {
    const page = await pageOf(firefox.get("/api/docs?a=b"));
    expect(page.querySelector(".top-end a")?.getAttribute("href")).toBe("/sign_in?to=%2Fapi%2Fdocs%3Fa%3Db");
    expect(textOf(page, "nav[aria-label=Main]")).toBe("GalleryAPIHelp");
    expect(page.querySelector(".skip")?.getAttribute("href")).toBe("#main");
    expect(page.querySelectorAll("h1")).toHaveLength(1);
  });

  it("shows who is signed in, and has a form to sign out", async () => {
    await firefox.beginSession(tux);
    const page = await pageOf(firefox.get("/"));
    expect(textOf(page, ".top-end")).toContain(tux.username);
    expect(page.querySelector('form[action="/sign_out"] [name=form_token]')).not.toBeNull();
    expect(textOf(page, "nav[aria-label=Main]")).toContain("My appliances");
  });

  it("holds the drawings of its icons, and no others", async () => {
    const page = await pageOf(firefox.get("/"));
    const used = [...page.querySelectorAll("use")].map((each) => each.getAttribute("href")?.slice(1));
    const held = [...page.querySelectorAll("body > svg > symbol")].map(({ id }) => id);
    expect(new Set(used)).toEqual(new Set(held));
    expect(page.querySelector("#i-log-in path")).not.toBeNull();
  });

  it("weighs less than 50 kB, compressed, with all its files", async () => {
    const source = await (await visit("/")).text();
    const files = [...source.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThanOrEqual(3);
    const contents = await Promise.all(
      files.map(async (path) => await (await env.ASSETS.fetch(`https://kiln.test${path}`)).text()),
    );
    const weight = [source, ...contents].map((text) => gzipSync(text).byteLength).reduce((sum, size) => sum + size);
    expect(weight).toBeLessThan(50_000);
  });

  it("remembers the colours in the browser", async () => {
    const answer = await firefox.post("/preferences", { theme: "dark" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "https://kiln.test/"]);
    const page = await pageOf(firefox.get("/"));
    expect(page.querySelector("#theme-dark")?.hasAttribute("checked")).toBe(true);
    await firefox.post("/preferences", { theme: '"><script>' });
    expect((await pageOf(firefox.get("/"))).querySelector("#theme-system")?.hasAttribute("checked")).toBe(true);
  });

  it("is compressed for a browser that takes it", async () => {
    const answer = await visit("/", { headers: { "accept-encoding": "gzip, br" } });
    expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
    expect((await visit("/")).headers.get("content-encoding")).toBeNull();
    expect(
      (await visit("/api/v2/user/appliances", { headers: { "accept-encoding": "gzip" } })).headers.get(
        "content-encoding",
      ),
    ).toBeNull();
  });
});

describe("an error", () => {
  it.each(["/nothing", "/download/9/x", "/testdrive/9/x", "/agreements/x/y"])(
    "is a page for a browser: %s",
    async (path) => {
      const answer = await visit(path, { headers: html });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
      const page = await pageOf(answer);
      expect(page.title).toBe("There is nothing here · Kiln");
      expect(textOf(page, "h1")).toBe("There is nothing here");
    },
  );

  it.each<[string, RequestInit]>([
    ["/nothing", {}],
    ["/nothing", { headers: { accept: "*/*" } }],
    ["/api/v2/nothing", { headers: html }],
    ["/api/nothing", { headers: html }],
  ])("is the document that it always was for a program: %s %o", async (path, init) => {
    const answer = await visit(path, init);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/xml; charset=utf-8"]);
  });

  it("shows what it is", async () => {
    await firefox.beginSession(tux);
    const refused = await firefox.post("/sign_out", {}, html);
    expect([refused.status, (await pageOf(refused)).title]).toEqual([403, "You may not do this · Kiln"]);
    const method = await firefox.post("/api/docs", {}, html);
    expect([method.status, method.headers.get("allow")]).toEqual([400, "GET"]);
  });
});

describe("a form", () => {
  it("shows the result once, on the next page", async () => {
    const other = await sessionOf(tux);
    await firefox.beginSession(tux);
    await firefox.post(`${sessionsPage}/${other.id}/revoke`, { form_token: await firefox.formToken() });
    expect(textOf(await pageOf(firefox.get(sessionsPage)), "#result")).toBe("The browser is signed out.");
    expect(textOf(await pageOf(firefox.get(sessionsPage)), "#result")).toBe("");
  });

  it("that cannot be done shows its page again, with the reason", async () => {
    const { secret } = await sessionOf(tux);
    const other = await sessionOf(tux);
    const one = browserWith(secret);
    const token = await one.formToken();
    await operate("PUT", "/read-only", { on: true });
    const answer = await one.post(`${sessionsPage}/${other.id}/revoke`, { form_token: token });
    await operate("PUT", "/read-only", { on: false });
    expect(answer.status).toBe(422);
    expect(textOf(await pageOf(answer), "[role=alert]")).toContain("read-only mode");
  });

  it("leaves its result to the page that the browser opens after a script has followed the form", async () => {
    const cookie = "__Host-kiln-result=%7B%22text%22%3A%22done%22%7D";
    const followed = await visit("/", { headers: { cookie, "x-page": "/testdrive/1/x" } });
    expect(followed.headers.getSetCookie()).toEqual([]);
    expect(textOf(await pageOf(followed), "#result")).toBe("");
    const refreshed = await visit("/", { headers: { cookie, "x-page": "" } });
    expect(refreshed.headers.getSetCookie()).toEqual([]);
    const swapped = await visit("/", { headers: { cookie, "x-page": "/" } });
    expect(swapped.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-kiln-result=; Max-Age=0/)]);
    expect(textOf(await pageOf(swapped), "#result")).toBe("done");
  });

  it("takes no result from elsewhere than its own cookie", async () => {
    const page = await pageOf(
      visit("/", { headers: { cookie: "__Host-kiln-result=%7B%22text%22%3A%22%3Cscript%3E%22%7D" } }),
    );
    expect(textOf(page, "#result")).toBe("<script>");
    expect(textOf(await pageOf(visit("/", { headers: { cookie: "__Host-kiln-result=x" } })), "#result")).toBe("");
  });
});
