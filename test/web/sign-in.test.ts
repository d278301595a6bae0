/** Signing in with a browser, tested from outside. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { startSession } from "#domain/accounts/sessions";
import { findAccount } from "#storage/accounts";
import { openDatabase } from "#storage/db";
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
import { expectError, readXml } from "../support/xml.ts";
import { patienceMs } from "../support/patience.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
});

describe("POST /sign_in", () => {
  it.each([
    ["password", () => "correct horse"],
    ["API key", () => tux.apiKey],
  ])("with the %s gives a cookie for this host alone, and goes on", async (_what, secret) => {
    const answer = await firefox.signIn(tux, secret(), { to: "/api/docs?a=b" });

    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("https://kiln.test/api/docs?a=b");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-kiln-session=[\w-]{32};/);
    for (const part of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=2592000"]) {
      expect(cookie.split("; ")).toContain(part);
    }
    expect(cookie).not.toMatch(/domain/i);
    const html = await (await firefox.get(page)).text();
    expect(html).toContain(`<strong>${tux.username}</strong>`);
    expect(html).toContain("Firefox on Linux");
  });

  it.each([
    ["/", "/appliances/new"],
    ["/?from=mail", "/?from=mail"],
    ["/gallery", "/gallery"],
  ])("leads someone without appliances from %s to %s", async (to, place) => {
    const answer = await firefox.signIn(tux, "correct horse", { to });
    expect(answer.headers.get("location")).toBe(`https://kiln.test${place}`);
  });

  it("stores no secret, no exact browser and no whole address", async () => {
    const { secret } = await sessionOf(tux);
    const row = await env.DB.prepare("SELECT * FROM sessions WHERE account_id = ?").bind(tux.accountId).first();
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(row).toMatchObject({ browser: "Firefox on Linux", network: "192.0.2.*" });
  });

  it.each([
    ["a wrong password", () => firefox.signIn(tux, "wrong")],
    ["an unknown name", () => firefox.signIn({ ...tux, username: "nobody" })],
    ["nothing", () => firefox.post("/sign_in", {})],
  ])("gives %s no cookie, and says the same", async (_what, attempt) => {
    const answer = await attempt();
    expect([answer.status, firefox.jar.cookie]).toEqual([403, ""]);
    expect(await answer.text()).toContain("That name and password do not match.");
  });

  it("shows a wrong attempt to the account", async () => {
    await firefox.signIn(tux, "wrong");
    await vi.waitFor(async () => {
      const { audit_log: log } = await readXml(await tux.get("/account/audit_log"));
      expect(log.entry).toMatchObject({ event: "sign_in.failed" });
    }, patienceMs);
  });

  it("is refused to a locked account", async () => {
    await operate("PUT", `/accounts/${tux.username}/lock`, { locked: true });
    expect([await statusOf(firefox.signIn(tux)), firefox.jar.cookie]).toEqual([403, ""]);
  });

  it.each([{ origin: "https://evil.test" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }])(
    "is refused from another site: %o",
    async (headers) => {
      const form = { name: tux.username, password: "correct horse" };
      await expectError(await firefox.post("/sign_in", form, headers), 403, "access_denied");
      expect(await sessionsOf(tux)).toEqual([]);
    },
  );

  it.each(["https://evil.test/", "//evil.test/", "/.//evil.test", "/\\evil.test", "javascript:alert(1)", "http:evil"])(
    "goes on to no other site: %s",
    async (to) => {
      const place = (await firefox.signIn(tux, "correct horse", { to })).headers.get("location") ?? "";
      expect(new URL(place).origin).toBe("https://kiln.test");
    },
  );

  it("does not use a session that another person put into the browser", async () => {
    const planted = browserWith("A".repeat(32));
    await planted.signIn(tux);
    expect(planted.jar.cookie).not.toContain("AAAA");
    expect(await isSignedIn(browserWith("A".repeat(32)))).toBe(false);
  });

  it("ends the session that the browser had before", async () => {
    const { secret } = await sessionOf(await signedIn());
    const shared = browserWith(secret);
    await shared.signIn(tux);
    expect([await isSignedIn(shared), await isSignedIn(browserWith(secret))]).toEqual([true, false]);
  });

  it("ends the oldest of more than twenty sessions", async () => {
    const all: string[] = [];
    for (let n = 0; n < 21; n += 1) all.push((await sessionOf(tux)).secret);
    const [oldest = "", second = ""] = all;
    expect(await sessionsOf(tux)).toHaveLength(20);
    expect([await isSignedIn(browserWith(oldest)), await isSignedIn(browserWith(second))]).toEqual([false, true]);
  });

  it.each([
    ["the password is changed", () => operate("PUT", `/accounts/${tux.username}/password`, {})],
    ["the account is locked", () => operate("PUT", `/accounts/${tux.username}/lock`, { locked: true })],
    ["the key is renewed", () => operate("POST", `/accounts/${tux.username}/rekey`)],
    ["the account is removed", () => operate("DELETE", `/accounts/${tux.username}`)],
  ])("starts no session if meanwhile %s", async (_what, change) => {
    const db = openDatabase(env);
    const checked = await findAccount(db, tux.username);
    if (!checked) throw new Error("no account");
    await change();
    const from = { userAgent: undefined, address: undefined, before: undefined };
    await expect(startSession({ env, db }, checked, from)).rejects.toThrow(/has just been changed/);
    expect(await sessionsOf(tux)).toEqual([]);
  });

  it("is throttled after many wrong passwords", async () => {
    const statuses = new Set<number>();
    const cf = { clientIp: "198.51.200.1:40000" };
    for (let n = 0; n < 22; n += 1) {
      const body = new URLSearchParams({ name: tux.username, password: `wrong ${n}` });
      statuses.add(await statusOf(visit("/sign_in", { method: "POST", body, cf })));
      if (statuses.has(429)) break;
    }
    expect([...statuses]).toEqual([403, 429]);
  });
});

describe("a plain HTTP address", () => {
  it.each(["http://kiln.test", "http://192.0.2.1:8080"])("gets no form and no cookie: %s", async (origin) => {
    const there = browser({ origin });
    const html = await (await there.get("/sign_in")).text();
    expect(html).toContain("--base-url https://…");
    expect(html).not.toContain('name="password"');
    const answer = await there.signIn(tux);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
  });

  it.each(["http://localhost:8080", "http://127.0.0.1:8080"])("of one's own machine works: %s", async (origin) => {
    const there = browser({ origin });
    expect(await (await there.get("/sign_in")).text()).toContain('name="password"');
    expect((await there.signIn(tux)).headers.getSetCookie()).toHaveLength(1);
  });
});
