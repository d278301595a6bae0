import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { switchboard } from "#domain/jobs";
import { keyedHash } from "#domain/secrets";
import { operate, signedIn, visit } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { isD1, whileAway } from "../support/storage-faults.ts";

/** The time of an agent's last call, as the operator sees it. */

const minuteMs = 60_000;
let agent: FakeAgent;
let attempt: Attempt;

beforeAll(async () => {
  const tux = await signedIn();
  agent = await fakeAgent();
  attempt = await agent.claimsBuild(await startBuild(tux, await createAppliance(tux)));
});

const noteSeen = (agoMs: number) =>
  env.DB.prepare("UPDATE agents SET last_seen_at = ? WHERE id = ?")
    .bind(Date.now() - agoMs, agent.id)
    .run();
const noted = () => env.DB.prepare("SELECT last_seen_at FROM agents WHERE id = ?").bind(agent.id).first("last_seen_at");

async function agoMs(): Promise<number> {
  const { agents } = await (await operate("GET", "/agents")).json<{ agents: { id: number; lastSeenAt: string }[] }>();
  const shown = agents.find(({ id }) => id === agent.id);
  return Date.now() - Date.parse(shown?.lastSeenAt ?? "");
}

const pull = ({ token } = agent): Promise<Response> =>
  visit("/client/v4/accounts/local/queues/kiln-jobs/messages/pull", {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });

const calls: [string, () => Promise<Response>][] = [
  ["claim", () => agent.call("POST", "/testdrives/claim", { json: { vnc: null } })],
  ["pull", () => pull()],
];

describe("an agent's last_seen_at", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  beforeEach(() => noteSeen(3 * minuteMs));

  it.each(calls)("follows its last %s", async (_, call) => {
    expect(await agoMs()).toBeGreaterThan(2 * minuteMs);
    expect((await call()).status).toBe(200);
    expect(await agoMs()).toBeLessThan(minuteMs);
  });

  it("follows the heartbeats of its builds, which do not wait for the database", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minuteMs });
    await noteSeen(3 * minuteMs);
    expect((await attempt.beats()).status).toBe(200);
    await vi.waitFor(async () => expect(await agoMs()).toBeLessThan(minuteMs), patienceMs);
  });

  it("follows its last ping, although a ping writes no row", async () => {
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    if (!webSocket) throw new Error("there is no socket");
    webSocket.accept();
    await noteSeen(3 * minuteMs);
    const before = await noted();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    webSocket.addEventListener("message", ({ data }) => resolve(data));
    webSocket.send("ping");

    expect(await promise).toBe("pong");
    expect(await agoMs()).toBeLessThan(minuteMs);
    expect(await noted()).toBe(before);
    webSocket.close();
  });

  it("is not written again within 20 seconds", async () => {
    await noteSeen(10_000);
    const before = await noted();
    for (const [, call] of calls) await call();
    expect(await noted()).toBe(before);
  });

  it("follows its pulls, although they need no query, also after the object was evicted", async () => {
    expect((await pull()).status).toBe(200);
    await noteSeen(3 * minuteMs);
    const before = await noted();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minuteMs });
    await whileAway(isD1, async () => expect((await pull()).status).toBe(200));
    await evictDurableObject(switchboard(env));
    expect(await agoMs()).toBeLessThan(minuteMs);
    expect(await noted()).toBe(before);
  });

  it("is written an hour after the row was last read, by the next pull", async () => {
    expect((await pull()).status).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61 * minuteMs });
    expect((await pull()).status).toBe(200);
    expect(Date.now() - Number(await noted())).toBeLessThan(minuteMs);
  });
});

describe("an agent that is removed", () => {
  it("is refused by its next pull, and by all later ones", async () => {
    const name = `agent-${crypto.randomUUID()}`;
    const removed = await fakeAgent(name);
    expect([(await pull(removed)).status, (await pull(removed)).status]).toEqual([200, 200]);
    expect((await operate("DELETE", `/agents/${name}`)).ok).toBe(true);
    expect([(await pull(removed)).status, (await pull(removed)).status]).toEqual([403, 403]);
  });

  it("is not remembered by a call that had read its row before", async () => {
    const name = `agent-${crypto.randomUUID()}`;
    const removed = await fakeAgent(name);
    const tokenHmac = keyedHash(env.API_KEY_PEPPER, removed.token);
    expect((await operate("DELETE", `/agents/${name}`)).ok).toBe(true);
    await switchboard(env).remember(removed.id, tokenHmac);
    expect(await switchboard(env).recognizes(tokenHmac)).toBe(false);
  });
});
