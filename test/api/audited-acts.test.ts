/** An act and its entry in the audit log are one batch: neither exists without the other. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { passwordMatches } from "#domain/secrets";
import { browser, browserWith, sessionOf } from "../support/browser.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { galleryPath, publish, publishedAppliance } from "../support/gallery.ts";
import { sshKeys } from "../support/ssh-keys.ts";
import { tokenOf } from "../support/tokens.ts";

beforeAll(loadTemplates);
afterEach(() => void vi.restoreAllMocks());

const password = "correct horse";
const countOf = async (table: string, which: string) =>
  await env.DB.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${which}`).first("count");
const columnOf = async (column: string, { accountId }: Client) =>
  await env.DB.prepare(`SELECT ${column} AS one FROM accounts WHERE id = ?`).bind(accountId).first("one");
const asOwner = (tux: Client, method: string, path: string, form: Record<string, string>) =>
  visit(path, {
    method,
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
    body: new URLSearchParams(form),
  });

/** Pages answer with a redirect. */
const asSeen = async (answer: Promise<Response>) => {
  const { status } = await answer;
  return new Response(null, { status: status === 303 ? 200 : status });
};

const mailPath = "/api/v2/user/account/mail";
const wantsMail = (tux: Client) => columnOf("mails_advisories", tux);

interface Act {
  /** The call. */
  act: () => Promise<Response>;
  /** Reads the state that the act changes. */
  seen: () => Promise<unknown>;
}

const acts: Record<string, (tux: Client) => Promise<Act>> = {
  "token.created": async (tux) => ({
    act: () => tux.post("/tokens", { name: "one", scope: "read" }),
    seen: () => countOf("tokens", `account_id = ${tux.accountId}`),
  }),
  "token.revoked": async (tux) => {
    const { id } = await tokenOf(tux);
    return { act: () => tux.delete(`/tokens/${id}`), seen: () => countOf("tokens", `id = ${id}`) };
  },
  "token.revoked by the operator": async (tux) => {
    const { id } = await tokenOf(tux);
    return { act: () => operate("DELETE", `/tokens/${id}`), seen: () => countOf("tokens", `id = ${id}`) };
  },
  "session.started": async (tux) => ({
    act: () => asSeen(browser().signIn(tux)),
    seen: () => countOf("sessions", `account_id = ${tux.accountId}`),
  }),
  "session.revoked": async (tux) => {
    const { id } = await sessionOf(tux);
    return { act: () => tux.delete(`/account/sessions/${id}`), seen: () => countOf("sessions", `id = ${id}`) };
  },
  "session.revoked by the operator": async (tux) => {
    const { id } = await sessionOf(tux);
    return {
      act: () => operate("DELETE", `/accounts/${tux.username}/sessions`),
      seen: () => countOf("sessions", `id = ${id}`),
    };
  },
  "key.renewed": async (tux) => ({
    act: async () => {
      const page = await (await visit("/user/show_api_key", signIn(tux))).text();
      const token = /name="form_token" value="([^"]*)"/.exec(page)?.[1] ?? "";
      return await asOwner(tux, "POST", "/user/show_api_key", { form_token: token });
    },
    seen: () => columnOf("api_key_hmac", tux),
  }),
  "key.renewed by the operator": async (tux) => ({
    act: () => operate("POST", `/accounts/${tux.username}/rekey`),
    seen: () => columnOf("api_key_hmac", tux),
  }),
  "ssh_keys.changed": async (tux) => {
    const firefox = browserWith((await sessionOf(tux)).secret);
    const form = { form_token: await firefox.formToken(), ssh_keys: sshKeys.ed25519 };
    return {
      act: () => asSeen(firefox.post("/account/ssh_keys", form)),
      seen: () => countOf("account_ssh_keys", `account_id = ${tux.accountId}`),
    };
  },
  "mail.changed": async (tux) => {
    await env.DB.prepare("UPDATE accounts SET mails_advisories = 1 WHERE id = ?").bind(tux.accountId).run();
    return { act: () => asOwner(tux, "PUT", mailPath, { advisories: "false" }), seen: () => wantsMail(tux) };
  },
  "mail.changed on a page": async (tux) => {
    await env.DB.prepare("UPDATE accounts SET mails_advisories = 1 WHERE id = ?").bind(tux.accountId).run();
    const firefox = browserWith((await sessionOf(tux)).secret);
    const form = { form_token: await firefox.formToken() };
    return { act: () => asSeen(firefox.post("/account/mail", form)), seen: () => wantsMail(tux) };
  },
  "password.changed": async (tux) => ({
    act: () => asOwner(tux, "PUT", "/api/v2/user/account/password", { password, new_password: "battery staple" }),
    seen: () => columnOf("password_hash", tux),
  }),
  "password.changed by the operator": async (tux) => ({
    act: () => operate("PUT", `/accounts/${tux.username}/password`, { password: "battery staple" }),
    seen: async () => await passwordMatches(password, String(await columnOf("password_hash", tux))),
  }),
  "appliance.shared": async (tux) => {
    const [id, gnu] = [await createAppliance(tux), await signedIn()];
    return {
      act: () => tux.post(`/appliances/${id}/sharing/${gnu.username}`),
      seen: () => countOf("shares", `appliance_id = ${id}`),
    };
  },
  "appliance.unshared": async (tux) => {
    const [id, gnu] = [await createAppliance(tux), await signedIn()];
    await tux.post(`/appliances/${id}/sharing/${gnu.username}`);
    return {
      act: () => tux.delete(`/appliances/${id}/sharing/${gnu.username}`),
      seen: () => countOf("shares", `appliance_id = ${id}`),
    };
  },
  "version.published": async (tux) => {
    const { applianceId } = await createBuild(tux);
    return {
      act: () => publish(tux, applianceId),
      seen: () => countOf("publications", `appliance_id = ${applianceId}`),
    };
  },
  "version.unpublished": async (tux) => {
    const { applianceId } = await publishedAppliance(tux);
    return {
      act: () => tux.delete(galleryPath(applianceId, "/version/0.0.1")),
      seen: () => countOf("publications", `appliance_id = ${applianceId}`),
    };
  },
  "channel.changed": async (tux) => {
    const id = await createAppliance(tux);
    return {
      act: () => tux.put(`/appliances/${id}/channels/stable`, ""),
      seen: () => countOf("channels", `appliance_id = ${id}`),
    };
  },
  "channel.removed": async (tux) => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/channels/stable`, "");
    return {
      act: () => tux.delete(`/appliances/${id}/channels/stable`),
      seen: () => countOf("channels", `appliance_id = ${id}`),
    };
  },
  "vex.stated": async (tux) => {
    const id = await createAppliance(tux);
    return {
      act: () => tux.put(`/appliances/${id}/vex/CVE-2026-1?status=under_investigation&text=Soon`, ""),
      seen: () => countOf("vex_statements", `appliance_id = ${id}`),
    };
  },
  "vex.withdrawn": async (tux) => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/vex/CVE-2026-1?status=under_investigation&text=Soon`, "");
    return {
      act: () => tux.delete(`/appliances/${id}/vex/CVE-2026-1`),
      seen: () => countOf("vex_statements", `appliance_id = ${id}`),
    };
  },
  "account.created": async ({ username }) => ({
    act: () => operate("POST", "/accounts", { username: `${username}-2`, email: "two@example.org" }),
    seen: () => countOf("accounts", `username = '${username}-2'`),
  }),
  "account.locked": async (tux) => ({
    act: () => operate("PUT", `/accounts/${tux.username}/lock`, { locked: true }),
    seen: () => columnOf("locked_at", tux),
  }),
  "account.unlocked": async (tux) => {
    await operate("PUT", `/accounts/${tux.username}/lock`, { locked: true });
    return {
      act: () => operate("PUT", `/accounts/${tux.username}/lock`, { locked: false }),
      seen: () => columnOf("locked_at", tux),
    };
  },
  "quota.changed": async (tux) => ({
    act: () => operate("PUT", `/accounts/${tux.username}/quota`, { gb: 50 }),
    seen: () => columnOf("quota_gb", tux),
  }),
  "account.removed": async (tux) => ({
    act: () => asOwner(tux, "DELETE", "/api/v2/user/account", { password }),
    seen: () => columnOf("removed_at", tux),
  }),
  "account.removed by the operator": async (tux) => ({
    act: () => operate("DELETE", `/accounts/${tux.username}`),
    seen: () => columnOf("removed_at", tux),
  }),
  "agent.registered": async ({ username: name }) => ({
    act: () => operate("POST", "/agents", { name }),
    seen: () => countOf("agents", `name = '${name}'`),
  }),
  "agent.removed": async ({ username: name }) => {
    await operate("POST", "/agents", { name });
    return { act: () => operate("DELETE", `/agents/${name}`), seen: () => countOf("agents", `name = '${name}'`) };
  },
};

const signIn = ({ username, apiKey }: Client) => ({
  headers: { authorization: `Basic ${btoa(`${username}:${apiKey}`)}` },
});

const entriesOf = (event: string) => countOf("audit_log", `event = '${event}'`);

describe("an act in the audit log", () => {
  it.each(Object.entries(acts))("is not done without its entry: %s", async (name, prepare) => {
    const [event = ""] = name.split(" ");
    const { act, seen } = await prepare(await signedIn());
    const [before, entries] = [await seen(), Number(await entriesOf(event))];
    vi.spyOn(console, "error").mockImplementation(() => {});
    await env.DB.prepare(
      "CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'the log is full'); END",
    ).run();

    const { status } = await act();
    await env.DB.prepare("DROP TRIGGER full").run();
    expect([status, await seen(), await entriesOf(event)]).toEqual([500, before, entries]);

    expect((await act()).status).toBe(200);
    expect(await seen()).not.toEqual(before);
    expect(await entriesOf(event)).toBe(entries + 1);
  });

  it("is not told of if it changed nothing", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const id = await createAppliance(tux);
    const entries = Number(await entriesOf("appliance.shared"));
    await tux.post(`/appliances/${id}/sharing/${gnu.username}`);
    await tux.post(`/appliances/${id}/sharing/${gnu.username}`);
    expect(await entriesOf("appliance.shared")).toBe(entries + 1);
    const { results } = await env.DB.prepare(
      "SELECT count FROM audit_log WHERE event = 'appliance.shared' ORDER BY id DESC LIMIT 1",
    ).all();
    expect(results).toEqual([{ count: 1 }]);
  });
});

it("records an agent's start when it stores what the agent can do", async () => {
  const agent = await fakeAgent("one-that-starts");
  await env.DB.prepare("UPDATE agents SET capabilities = NULL WHERE name = 'one-that-starts'").run();
  vi.spyOn(console, "error").mockImplementation(() => {});
  await env.DB.prepare(
    "CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'the log is full'); END",
  ).run();
  await agent.hello().catch(() => {});
  await env.DB.prepare("DROP TRIGGER full").run();
  expect(await countOf("agents", "name = 'one-that-starts' AND capabilities IS NULL")).toBe(1);
});
