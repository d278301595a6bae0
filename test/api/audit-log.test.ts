import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, withKey, type Client } from "../support/client.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { galleryPath, publishedAppliance } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { stopClock } from "../support/clock.ts";
import { dial, until } from "../support/testdrives.ts";
import { tokenOf } from "../support/tokens.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);
afterEach(() => void vi.useRealTimers());

// oxlint-disable-next-line typescript/no-explicit-any -- an entry has what its event tells
type Entry = any;

async function logOf(tux: Client, query = ""): Promise<Entry[]> {
  const { audit_log: log } = await readXml(await tux.get(`/account/audit_log${query}`));
  return log.entry === undefined ? [] : [log.entry].flat();
}

const operatorsLog = async (query = ""): Promise<Entry[]> =>
  (await (await operate("GET", `/audit${query}`)).json<{ entries: Entry[] }>()).entries;

const failed = (log: Entry[]) => log.filter(({ event }) => event === "sign_in.failed");

const eventsOfAgent = async (name: string): Promise<string[]> =>
  (await operatorsLog()).filter(({ detail }) => detail.agent === name).map(({ event }) => event);

const sweepAfter = (days: number) => sweepIn(days * 24 * 60 * 60_000);

describe("the audit log of an account", () => {
  it("lists tokens, shares, publications and passwords, the latest first, and no secret", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const { applianceId } = await publishedAppliance(tux);
    const { id, secret, client } = await tokenOf(tux, { scope: "publish", appliance_id: applianceId });
    await client.post(`/appliances/${applianceId}/sharing/${gnu.username}`);
    await client.delete(`/appliances/${applianceId}/sharing/${gnu.username}`);
    await client.delete(galleryPath(applianceId, "/version/0.0.1"));
    await tux.delete(`/tokens/${id}`);
    await tux.put(
      "/account/password",
      "password=correct+horse&new_password=battery+staple",
      "application/x-www-form-urlencoded",
    );

    const log = await logOf(tux);

    const appliance = String(applianceId);
    expect(log.map(({ id: _id, at: _at, ...entry }) => entry)).toEqual([
      { event: "password.changed", by: "key", count: "1" },
      { event: "token.revoked", by: "key", count: "1", token_id: id },
      { event: "version.unpublished", by: `token ${id}`, count: "1", appliance_id: appliance, version: "0.0.1" },
      { event: "appliance.unshared", by: `token ${id}`, count: "1", appliance_id: appliance, username: gnu.username },
      { event: "appliance.shared", by: `token ${id}`, count: "1", appliance_id: appliance, username: gnu.username },
      {
        event: "token.created",
        by: "key",
        count: "1",
        appliance_id: appliance,
        token_id: id,
        token_name: "one",
        scope: "publish",
      },
      { event: "version.published", by: "key", count: "1", appliance_id: appliance, version: "0.0.1" },
    ]);
    const { results } = await env.DB.prepare("SELECT * FROM audit_log").all();
    expect(JSON.stringify(results)).not.toMatch(new RegExp(`${secret}|correct|staple|${tux.apiKey}`));
    expect(await logOf(gnu)).toEqual([]);
  });

  it("counts failed sign-ins by the minute, and none for a name that no account has", async () => {
    const tux = await signedIn();
    const start = Math.ceil(Date.now() / 60_000) * 60_000;
    const failAt = async (ms: number, path: string) => {
      vi.useFakeTimers({ now: start + ms, toFake: ["Date"] });
      await withKey(tux, `wrong ${ms}`).get(path);
    };
    const counts = async () => failed(await logOf(tux)).map(({ count }) => count);

    await failAt(0, "/account");
    await failAt(30_000, "/appliances");
    await until(async () => ((await counts())[0] === "2" ? true : undefined));
    await failAt(61_000, "/account");
    await until(async () => ((await counts()).length === 2 ? true : undefined));
    const before = await env.DB.prepare("SELECT count(*) AS count FROM audit_log").first("count");
    await withKey({ ...tux, username: "nobody-at-all" }, "wrong").get("/account");

    expect(await counts()).toEqual(["1", "2"]);
    expect(await env.DB.prepare("SELECT count(*) AS count FROM audit_log").first("count")).toBe(before);
  });

  it("counts wrong passwords of its page and of its calls", async () => {
    const tux = await signedIn();
    await visit("/user/show_api_key", { headers: { authorization: `Basic ${btoa(`${tux.username}:wrong`)}` } });
    const body = "password=wrong&new_password=battery+staple";
    await tux.put("/account/password", body, "application/x-www-form-urlencoded");

    const total = async () => failed(await logOf(tux)).reduce((sum, { count }) => sum + Number(count), 0);
    await until(async () => ((await total()) === 2 ? true : undefined));
  });

  it("has pages", async () => {
    const tux = await signedIn();
    await env.DB.prepare(
      `WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 130)
       INSERT INTO audit_log (account_id, event, actor, detail, at, minute) SELECT ?, 'key.renewed', 'page', '{}', ?, n FROM many`,
    )
      .bind(tux.accountId, Date.now())
      .run();

    const first = await logOf(tux);
    const second = await logOf(tux, `?before=${first.at(-1)?.id}`);

    expect([first.length, second.length]).toEqual([100, 30]);
    const ids = [...first, ...second].map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
    expect(new Set(ids).size).toBe(130);
  });

  it("is kept for 90 days", async () => {
    const tux = await signedIn();
    await tokenOf(tux);
    await sweepAfter(89);
    expect(await logOf(tux)).toHaveLength(1);
    await sweepAfter(91);
    expect(await logOf(tux)).toEqual([]);
  });
});

describe("the operator's audit log", () => {
  it("lists the operator's own calls, and every account's", async () => {
    const tux = await signedIn();
    stopClock(); // otherwise, the minute might end in between
    await operate("PUT", `/accounts/${tux.username}/lock`, { locked: true });
    await operate("PUT", `/accounts/${tux.username}/lock`, { locked: false });
    await operate("GET", `/accounts/${tux.username}/api-key`);
    await operate("GET", "/accounts");
    const { id } = await tokenOf(tux);
    await operate("DELETE", `/tokens/${id}`);
    await operate("POST", "/agents", { name: "audited" });

    const all = await operatorsLog();

    const calls = all
      .filter(({ event }) => event === "operator.called")
      .map(({ detail, count }) => [detail.call, count]);
    expect(calls.slice(0, 4)).toEqual([
      ["POST /agents", 1],
      [`DELETE /tokens/${id}`, 1],
      [`GET /accounts/${tux.username}/api-key`, 1],
      [`PUT /accounts/${tux.username}/lock`, 2],
    ]);
    expect(all.find(({ event }) => event === "agent.registered")).toMatchObject({
      accountId: 0,
      detail: { agent: "audited" },
    });
    const own = await operatorsLog(`?account=${tux.username}`);
    expect(own.map(({ event, actor }) => [event, actor])).toEqual([
      ["token.revoked", "operator"],
      ["token.created", "key"],
      ["account.unlocked", "operator"],
      ["account.locked", "operator"],
    ]);
    expect((await operatorsLog(`?account=${tux.username}&before=${own[1].id}`)).map(({ event }) => event)).toEqual([
      "account.unlocked",
      "account.locked",
    ]);
    expect((await operate("GET", "/audit?account=nobody-at-all")).status).toBe(400);
    expect((await operate("GET", "/audit?before=x")).status).toBe(400);
  });

  it("counts wrong admin secrets", async () => {
    stopClock();
    for (const secret of ["wrong", "wrong again"]) {
      expect((await visit("/admin/accounts", { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
    }

    const [latest] = await operatorsLog();

    expect(latest).toMatchObject({ event: "sign_in.failed", actor: "operator", accountId: 0, count: 2 });
    expect(JSON.stringify(latest)).not.toContain("wrong");
  });

  it("lists agents that start and are lost", async () => {
    const { token } = await fakeAgent("starter");
    expect(await eventsOfAgent("starter")).toEqual(["agent.started"]);
    const [first, second] = [await connect(token), await connect(token)];

    first.close();
    await until(async () => (first.readyState === WebSocket.CLOSED ? true : undefined));
    expect(await eventsOfAgent("starter")).toEqual(["agent.started"]);
    second.close();

    await until(async () => ((await eventsOfAgent("starter")).length === 2 ? true : undefined));
    expect(await eventsOfAgent("starter")).toEqual(["agent.lost", "agent.started"]);
  });
});

async function connect(token: string): Promise<WebSocket> {
  const { webSocket } = await dial("/agent/socket", { authorization: `Bearer ${token}` });
  if (!webSocket) throw new Error("no socket");
  webSocket.accept();
  return webSocket;
}
