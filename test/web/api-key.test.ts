import { describe, expect, it } from "vitest";
import { signedIn, visit, type Client } from "../support/client.ts";
import { expectError } from "../support/xml.ts";

const path = "/user/show_api_key";
const basic = ({ username }: Client, secret: string) => ({ authorization: `Basic ${btoa(`${username}:${secret}`)}` });
const keyIn = (html: string) => [...html.matchAll(/<span class="svc:api_key">([^<]*)<\/span>/g)].map(([, key]) => key);
const formTokenIn = (html: string) => /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";

const openPage = async (tux: Client) => (await visit(path, { headers: basic(tux, tux.apiKey) })).text();
const renew = (tux: Client, formToken: string, headers: Record<string, string> = {}) =>
  visit(path, {
    method: "POST",
    headers: { ...basic(tux, tux.apiKey), ...headers },
    body: new URLSearchParams({ form_token: formToken }),
  });

describe("GET /user/show_api_key", () => {
  it.each([
    ["the password", () => "correct horse"],
    ["the current key", (tux: Client) => tux.apiKey],
  ])("shows the key alone in its span to a user with %s", async (_what, secret) => {
    const tux = await signedIn();

    const answer = await visit(path, { headers: basic(tux, secret(tux)) });

    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("cache-control")).toBe("no-store, no-transform");
    const html = await answer.text();
    expect(html).toMatch(/^<!DOCTYPE html><html/);
    expect(keyIn(html)).toEqual([tux.apiKey]);
  });

  it.each([
    ["no credentials", undefined],
    ["a wrong password", "wrong"],
  ])("asks for credentials from a user with %s", async (_what, secret) => {
    const tux = await signedIn();

    const answer = await visit(path, secret ? { headers: basic(tux, secret) } : {});

    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="Kiln account", charset="UTF-8"');
    expect(await answer.text()).not.toContain(tux.apiKey);
  });

  it("is not compressed, because its address is next to the key", async () => {
    const tux = await signedIn();

    const answer = await visit(path, { headers: { ...basic(tux, tux.apiKey), "accept-encoding": "gzip" } });

    expect(answer.headers.get("content-encoding")).toBeNull();
  });

  it("allows no foreign content and no framing", async () => {
    const tux = await signedIn();

    const { headers } = await visit(path, { headers: basic(tux, tux.apiKey) });

    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

describe("POST /user/show_api_key", () => {
  it("makes and shows a new key, and revokes the old one immediately", async () => {
    const tux = await signedIn();

    const answer = await renew(tux, formTokenIn(await openPage(tux)));

    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [apiKey = ""] = keyIn(await answer.text());
    expect(apiKey).toMatch(/^\w{20}$/);
    expect(apiKey).not.toBe(tux.apiKey);
    const account = (key: string) => visit("/api/v2/user/account", { headers: basic(tux, key) });
    expect((await account(tux.apiKey)).status).toBe(401);
    expect((await account(apiKey)).status).toBe(200);
    expect(keyIn(await (await visit(path, { headers: basic(tux, apiKey) })).text())).toEqual([apiKey]);
  });

  it("refuses a missing or used form token and another account's", async () => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    const foreign = formTokenIn(await openPage(eve));

    await expectError(await renew(tux, ""), 403, "access_denied");
    await expectError(await renew(tux, foreign), 403, "access_denied");
    expect(keyIn(await openPage(tux))).toEqual([tux.apiKey]);
    await renew(eve, foreign);
    const password = basic(eve, "correct horse");
    await expectError(await renew(eve, foreign, password), 403, "access_denied");
  });

  it.each([{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.test" }])(
    "refuses a form from another site: %o",
    async (headers) => {
      const tux = await signedIn();
      const formToken = formTokenIn(await openPage(tux));

      await expectError(await renew(tux, formToken, headers), 403, "access_denied");
      expect(keyIn(await openPage(tux))).toEqual([tux.apiKey]);
    },
  );

  it("explains a refusal to a browser in a page", async () => {
    const tux = await signedIn();

    const answer = await renew(tux, "stale", { accept: "text/html,*/*" });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("This form has expired");
  });
});
