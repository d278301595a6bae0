/** Sessions of signed-in browsers, tested from outside. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import {
  browser,
  browserWith,
  isSignedIn,
  sessionOf,
  sessionsOf,
  sessionsPage as page,
  statusOf,
} from "../support/browser.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

const dayMs = 24 * 60 * 60_000;
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
});

describe("a session", () => {
  it("opens nothing of the API", async () => {
    await firefox.signIn(tux);
    for (const path of ["/api/v2/user/account", "/api/v1/user/appliances", "/admin/accounts"]) {
      expect(await statusOf(firefox.get(path))).toBe(401);
    }
    expect(await statusOf(firefox.post("/api/v2/user/appliances?clone_from=1", {}))).toBe(401);
  });

  it("ends at sign-out, also for someone who has copied its cookie", async () => {
    await firefox.signIn(tux);
    const copy = browser({ cookie: firefox.jar.cookie });
    const answer = await firefox.post("/sign_out", { form_token: await firefox.formToken() });
    expect([answer.status, firefox.jar.cookie]).toEqual([303, ""]);
    expect(await isSignedIn(copy)).toBe(false);
    expect(await sessionsOf(tux)).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      "a change of the password",
      () =>
        visit("/api/v2/user/account/password", {
          method: "PUT",
          headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
          body: new URLSearchParams({ password: "correct horse", new_password: "battery staple" }),
        }),
    ],
    ["the operator's password", () => operate("PUT", `/accounts/${tux.username}/password`, {})],
    ["a new key", () => operate("POST", `/accounts/${tux.username}/rekey`)],
    ["a lock", () => operate("PUT", `/accounts/${tux.username}/lock`, { locked: true })],
    ["the removal of the account", () => operate("DELETE", `/accounts/${tux.username}`)],
    ["the operator", () => operate("DELETE", `/accounts/${tux.username}/sessions`)],
  ])("ends at %s", async (_what, end) => {
    const one = browserWith((await sessionOf(tux)).secret);
    const other = browserWith((await sessionOf(await signedIn())).secret);
    expect(await isSignedIn(one)).toBe(true);
    await end();
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, true]);
    expect(await sessionsOf(tux)).toEqual([]);
  });

  it("ends a week after its last use, at most 30 days after the sign-in, and is swept", async () => {
    const { secret } = await sessionOf(tux);
    const one = browserWith(secret);
    const move = (by: number) =>
      env.DB.prepare(
        "UPDATE sessions SET created_at = created_at - ?1, last_used_at = last_used_at - ?1, expires_at = expires_at - ?1 WHERE account_id = ?2",
      ).bind(by, tux.accountId);
    for (let week = 0; week < 5; week += 1) {
      expect(await isSignedIn(one)).toBe(week * 6 < 30);
      await move(6 * dayMs).run();
    }
    await sweepIn(0);
    expect(await sessionsOf(tux)).toEqual([]);
  });

  it("ends if it is not used for 8 days", async () => {
    const [used, unused] = [await sessionOf(tux), await sessionOf(tux)];
    await env.DB.prepare("UPDATE sessions SET expires_at = expires_at - ? WHERE id = ?")
      .bind(6 * dayMs, used.id)
      .run();
    await env.DB.prepare("UPDATE sessions SET expires_at = expires_at - ? WHERE id = ?")
      .bind(8 * dayMs, unused.id)
      .run();
    expect(await isSignedIn(browserWith(used.secret))).toBe(true);
    expect(await isSignedIn(browserWith(unused.secret))).toBe(false);
  });

  it("notes its last use once a minute", async () => {
    const { secret, id } = await sessionOf(tux);
    const usedAt = async () => (await sessionsOf(tux))[0]?.lastUsedAt.getTime() ?? 0;
    const before = await usedAt();
    await isSignedIn(browserWith(secret));
    expect(await usedAt()).toBe(before);
    await env.DB.prepare("UPDATE sessions SET last_used_at = ? WHERE id = ?")
      .bind(before - 61_000, id)
      .run();
    await isSignedIn(browserWith(secret));
    expect(await usedAt()).toBeGreaterThanOrEqual(before);
  });
});

describe("GET /account/sessions", () => {
  it("asks others to sign in first, and then goes on there", async () => {
    const answer = await firefox.get(page);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/sign_in?to=%2Faccount%2Fsessions");
    const html = await (await firefox.get(answer.headers.get("location") ?? "")).text();
    expect(html).toContain('name="to" value="https://kiln.test/account/sessions"');
  });

  it("signs another browser out", async () => {
    const other = await sessionOf(tux);
    await firefox.signIn(tux);
    const answer = await firefox.post(`${page}/${other.id}/revoke`, { form_token: await firefox.formToken() });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
    expect([await isSignedIn(browserWith(other.secret)), await isSignedIn(firefox)]).toEqual([false, true]);
  });

  it("refuses a form without its token, with another session's, and from another site", async () => {
    const other = await sessionOf(tux);
    await firefox.signIn(tux);
    const revoke = (form: Record<string, string>, headers = {}) =>
      firefox.post(`${page}/${other.id}/revoke`, form, headers);
    const token = await firefox.formToken();
    await expectError(await revoke({}), 403, "access_denied");
    await expectError(await revoke({ form_token: await browserWith(other.secret).formToken() }), 403, "access_denied");
    await expectError(await revoke({ form_token: token }, { origin: "https://evil.test" }), 403, "access_denied");
    await expectError(await firefox.post("/sign_out", {}), 403, "access_denied");
    expect(await isSignedIn(browserWith(other.secret))).toBe(true);
  });

  it("has a token that looks different on each page, because pages are compressed", async () => {
    const other = await sessionOf(tux);
    await firefox.signIn(tux);
    const tokens = [await firefox.formToken(), await firefox.formToken()];
    const halves = tokens.flatMap((token) => [token.slice(0, 64), token.slice(64)]);
    expect(new Set(halves).size).toBe(4);
    for (const form_token of ["zz", tokens[0]?.slice(64) ?? "", "0".repeat(128)]) {
      await expectError(await firefox.post(`${page}/${other.id}/revoke`, { form_token }), 403, "access_denied");
    }
    for (const form_token of tokens) await firefox.post(`${page}/${other.id}/revoke`, { form_token });
    expect(await isSignedIn(browserWith(other.secret))).toBe(false);
  });

  it("revokes no session of another account", async () => {
    const other = await sessionOf(await signedIn());
    await firefox.signIn(tux);
    const answer = await firefox.post(`${page}/${other.id}/revoke`, { form_token: await firefox.formToken() });
    expect(answer.status).toBe(404);
    for (const id of ["x", "9".repeat(400)]) {
      const form = { form_token: await firefox.formToken() };
      expect(await statusOf(firefox.post(`${page}/${id}/revoke`, form))).toBe(404);
    }
    expect(await isSignedIn(browserWith(other.secret))).toBe(true);
  });

  it("has the headers of a page, with which browsers say where its forms come from", async () => {
    const { headers } = await firefox.get("/sign_in");
    expect(headers.get("content-security-policy")).toContain("form-action 'self'");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("the calls", () => {
  it("list an account's own sessions, and revoke one", async () => {
    const { id, secret } = await sessionOf(tux);
    await sessionOf(await signedIn());
    const { sessions } = await readXml(await tux.get("/account/sessions"));
    expect(sessions.session).toMatchObject({ id: String(id), browser: "Firefox on Linux", network: "192.0.2.*" });
    expect((await tux.delete(`/account/sessions/${id}`)).status).toBe(200);
    expect(await isSignedIn(browserWith(secret))).toBe(false);
  });

  it("of the operator list and revoke an account's sessions", async () => {
    const [one, two] = [await sessionOf(tux), await sessionOf(tux)];
    const path = `/accounts/${tux.username}/sessions`;
    const listed = await (await operate("GET", path)).text();
    expect(JSON.parse(listed).sessions).toHaveLength(2);
    expect(listed).not.toMatch(/hmac/i);
    expect((await operate("DELETE", `${path}/${one.id}`)).status).toBe(200);
    expect((await operate("DELETE", `${path}/${one.id}`)).status).toBe(400);
    expect([await isSignedIn(browserWith(one.secret)), await isSignedIn(browserWith(two.secret))]).toEqual([
      false,
      true,
    ]);
  });
});
