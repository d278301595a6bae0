import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import { capabilities } from "../support/fake-agent.ts";
import { stopClock } from "../support/clock.ts";
import {
  joinedPair,
  objectOf,
  passTime,
  passTimeAlive,
  untilRowIs,
  runningDrive,
  statusOf,
} from "../support/testdrives.ts";

afterEach(() => {
  vi.useRealTimers();
});

interface StoredSession {
  state: object;
  attempt: object;
}

/** Changes the stored session of the object directly. */
const restore = (drive: { uid: string }, change: (session: StoredSession) => StoredSession) =>
  runInDurableObject(objectOf(drive), (_, { storage }) => {
    const session = storage.kv.get<StoredSession>("session");
    if (!session) throw new Error("there is no session");
    storage.kv.put("session", change(session));
  });

const endsAfter = (drive: { uid: string }, ms: number) =>
  restore(drive, (session) => ({ ...session, state: { ...session.state, endsAt: Date.now() + ms } }));

const ofAgent = (drive: { uid: string }, agentId: number) =>
  restore(drive, (session) => ({ ...session, attempt: { ...session.attempt, agentId } }));

describe("the time limits of a testdrive", () => {
  it("survive a service restart: 60 seconds without a viewer", async () => {
    stopClock();
    const drive = await runningDrive(await signedIn());
    await passTimeAlive(drive, 29_000);

    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });
    await passTimeAlive(drive, 29_000);
    expect((await statusOf(drive)).state).toBe("running");
    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });
    await passTime(drive, 2_100);

    expect((await statusOf(drive)).message).toBe("No one was connected for 60 seconds.");
  });

  it("survive a service restart: the longest session, counted from ready", async () => {
    stopClock();
    const drive = await runningDrive(await signedIn());
    const { browser, agent } = await joinedPair(drive);
    const seconds = Number(env.TESTDRIVE_MINUTES) * 60;

    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });
    expect((await statusOf(drive)).secondsLeft).toBeGreaterThan(seconds - 60);
    await passTimeAlive(drive, 29_000);
    await endsAfter(drive, 20_000);
    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });
    expect((await statusOf(drive)).state).toBe("running");
    await passTime(drive, 20_000);

    expect((await statusOf(drive)).message).toBe("The session has reached its time limit.");
    expect([(await browser.closed).code, (await agent.closed).code]).toEqual([1000, 1000]);
  });

  it("end a session whose agent restarts, and no other agent's", async () => {
    const tux = await signedIn();
    const drive = await runningDrive(tux);
    const { browser } = await joinedPair(drive);
    const other = await runningDrive(tux);
    await ofAgent(other, 999_999);

    const hello = await visit("/agent/hello", {
      method: "POST",
      headers: { authorization: `Bearer ${env.AGENT_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ capabilities }),
    });

    expect(hello.status).toBe(200);
    expect((await browser.closed).code).toBe(1000);
    expect((await statusOf(drive)).message).toBe("The builder agent that ran it has restarted.");
    expect((await statusOf(other)).state).toBe("running");
    await untilRowIs(drive, "ended");
  });

  it("let a reloaded page continue its session", async () => {
    stopClock();
    const drive = await runningDrive(await signedIn());
    const first = await joinedPair(drive);
    first.browser.socket.close(1001);
    await first.agent.closed;
    await passTimeAlive(drive, 29_000);

    const second = await joinedPair(drive);
    await passTimeAlive(drive, 29_000);
    await passTime(drive, 10_000);
    second.agent.socket.send(new Uint8Array([7]));

    expect(new Uint8Array((await second.browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([7]));
    expect(await statusOf(drive)).toMatchObject({ state: "running", viewers: 1 });
    second.browser.socket.close();
    await second.agent.closed;
  });
});
