import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { artifactNames, buildLeaseMs } from "#lib/contract/index";
import { timeLimitMs, wakeUpEveryMs } from "#domain/builds/machine";
import { longQueueMs } from "#domain/builds/why-waiting";
import { mailbox } from "#domain/jobs";
import { maxLogBytes } from "#objects/build-log";
import { artifactKey, attestationsKey, installedKey, logKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { objectOfBuild, runAlarm, rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { connect } from "../support/pool.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env.DB);

async function queuedBuild() {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  return { tux, applianceId, buildId, object: await objectOfBuild(buildId) };
}

async function runningBuild() {
  const build = await queuedBuild();
  const agent = await fakeAgent();
  return { ...build, agent, attempt: await agent.claimsBuild(build.buildId) };
}

const seenBy = async (tux: Client, buildId: number) =>
  (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

const alarmOf = async (buildId: number) =>
  runInDurableObject(await objectOfBuild(buildId), (_build, { storage }) => storage.getAlarm());

/** Takes all wake-ups out of the mailbox; returns how many of them are for this build. */
async function wakeUpsFor(buildId: number): Promise<number> {
  const { messages } = await mailbox(env).pull({ batchSize: 100, visibilityTimeoutMs: 60_000 });
  await mailbox(env).acknowledge({ acks: messages.map(({ lease_id: leaseId }) => leaseId), retries: [] });
  return messages.filter(({ body }) => JSON.parse(atob(body)).buildId === buildId).length;
}

/** Sets the clock that objects read; tests run alarms themselves. */
function passTime(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a queued build", () => {
  it("survives eviction and can then be claimed", async () => {
    const { buildId, object } = await queuedBuild();
    await evictDurableObject(object);

    const attempt = await (await fakeAgent()).claimsBuild(buildId);

    expect(attempt.claim).toMatchObject({ buildId, attempt: 1, timeLimitMs });
    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "running", startedAt: expect.any(Date) });
  });

  it("sends the wake-up again every 30 s, even after eviction", async () => {
    const { buildId, object } = await queuedBuild();
    await vi.waitFor(async () => expect(await wakeUpsFor(buildId)).toBe(1), patienceMs);
    await evictDurableObject(object);
    passTime(wakeUpEveryMs);

    expect(await runDurableObjectAlarm(object)).toBe(true);

    expect(await alarmOf(buildId)).toBe(Date.now() + wakeUpEveryMs);
    await vi.waitFor(async () => expect(await wakeUpsFor(buildId)).toBe(1), patienceMs);
  });

  it("reports after a while that no builder is connected", async () => {
    const { tux, buildId, object } = await queuedBuild();
    await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
    passTime(longQueueMs);

    await runDurableObjectAlarm(object);

    expect(await seenBy(tux, buildId)).toMatchObject({
      state: "queued",
      message: "Waiting: no builder that can do this is connected",
    });
  });

  it("reports after a while that all builders are busy", async () => {
    const { tux, buildId, object } = await queuedBuild();
    passTime(longQueueMs);
    await (await fakeAgent()).hello();

    await runDurableObjectAlarm(object);

    expect(await seenBy(tux, buildId)).toMatchObject({
      state: "queued",
      message: expect.stringMatching(/^Waiting: all builders are busy(; \d+ builds? before this one)?$/),
    });
  });

  it("does not wake again and again while it rests after a claim in vain", async () => {
    const [agent] = await connect(1, { said: {} });
    const { buildId, object } = await queuedBuild();
    const claimed = await object.claim(agent?.agentId ?? 0);
    passTime(5_000);

    await object.notHandedOut("token" in claimed ? claimed.token : "");

    expect(await alarmOf(buildId)).toBeGreaterThan(Date.now());
    agent?.close();
  });

  it("starts when its object wakes without having been told", async () => {
    const { buildId, object } = await queuedBuild();
    await runInDurableObject(object, (_build, { storage }) => storage.deleteAll());
    await evictDurableObject(object);

    await object.wake();

    expect(await object.progress()).toMatchObject({ state: "queued" });
    expect(await alarmOf(buildId)).not.toBeNull();
  });
});

type Running = Awaited<ReturnType<typeof runningBuild>>;
type Attempt = Running["attempt"];

describe("a running build", () => {
  it("keeps its attempt, progress and lease through eviction", async () => {
    const { tux, buildId, object, attempt } = await runningBuild();
    await attempt.beats({ percent: 61 });
    await evictDurableObject(object);

    expect(await seenBy(tux, buildId)).toMatchObject({ state: "running", percent: "61" });
    expect((await attempt.beats()).status).toBe(200);
  });

  it("goes to another agent after its lease, and refuses the first", async () => {
    const { tux, buildId, object, attempt } = await runningBuild();
    passTime(buildLeaseMs);

    await runDurableObjectAlarm(object);
    expect(await seenBy(tux, buildId)).toMatchObject({ state: "queued", message: expect.stringContaining("lost") });
    const second = await (await fakeAgent()).claimsBuild(buildId);

    expect(second.claim.attempt).toBe(2);
    const late = [
      await attempt.beats(),
      await attempt.writesLog(0, "late"),
      await attempt.call("artifacts/image", { size: 1, fileName: "x" }),
      await attempt.sendsPart(1, bytesOf("x")),
      await attempt.completesUpload(bytesOf("x")),
      await attempt.finishes(),
      await attempt.call("fail", { kind: "failed", reason: "late" }),
      await attempt.call("release"),
    ];
    expect(late.map(({ status }) => status)).toEqual(Array.from(late, () => 410));
    expect((await second.beats()).status).toBe(200);
  });

  it("ends in error, with the reason, after the third lost attempt", async () => {
    const { tux, buildId, attempt, agent } = await runningBuild();
    await attempt.call("fail", { kind: "error", reason: "no space left on /var" });
    await (await agent.claimsBuild(buildId)).call("fail", { kind: "error", reason: "no space left on /var" });
    await (await agent.claimsBuild(buildId)).call("fail", { kind: "error", reason: "no space left on /tmp" });

    expect(await seenBy(tux, buildId)).toMatchObject({ state: "error", message: "no space left on /tmp" });
    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "error", completedAt: expect.any(Date) });
  });

  it("fails when it exceeds its time limit", async () => {
    const { tux, buildId, object, attempt } = await runningBuild();
    passTime(timeLimitMs);
    await attempt.beats();

    await runDurableObjectAlarm(object);

    expect(await seenBy(tux, buildId)).toMatchObject({ state: "failed", message: expect.stringContaining("4 hours") });
    expect((await attempt.finishes()).status).toBe(410);
  });

  it.each([
    ["fails", (attempt: Attempt) => attempt.call("fail", { kind: "failed", reason: "no" }), "failed"],
    ["is cancelled", (_: Attempt, { object }: Running) => object.cancel(), "cancelled"],
  ])("keeps its last percentage when it %s", async (_, end, state) => {
    const running = await runningBuild();
    const { tux, buildId, object, attempt } = running;
    await attempt.beats({ percent: 61 });
    await end(attempt, running);
    expect(await object.progress()).toMatchObject({ state, percent: 61 });
    expect(await seenBy(tux, buildId)).toMatchObject({ state, percent: "61" });
  });

  it("deletes uploads of lost attempts from R2", async () => {
    const { buildId, agent, attempt } = await runningBuild();
    const { uid } = attempt;
    await attempt.uploads(bytesOf("first"));
    await attempt.call("release");
    await agent.buildsSuccessfully(buildId, bytesOf("second"));

    await runAlarm(buildId);

    const { objects } = await env.BLOBS.list({ prefix: `builds/${uid}/` });
    const artifacts = artifactNames.map((name) => artifactKey(uid, 2, name));
    const keys = [installedKey(uid), logKey(uid), attestationsKey(uid), ...artifacts];
    expect(objects.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  });
});

describe("the end of a build", () => {
  it("is reported to D1 by the alarm if D1 failed before", async () => {
    const { tux, buildId, object, attempt } = await runningBuild();
    await env.DB.prepare("ALTER TABLE builds RENAME TO builds_away").run();
    const refused = vi.spyOn(console, "error").mockImplementation(() => {});
    await object.cancel();
    await env.DB.prepare("ALTER TABLE builds_away RENAME TO builds").run();
    expect(refused).toHaveBeenCalled();
    refused.mockRestore();
    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "running" });

    await runDurableObjectAlarm(object);

    expect(await findAnyBuild(db, buildId)).toMatchObject({ status: "cancelled" });
    expect(await seenBy(tux, buildId)).toMatchObject({ state: "cancelled" });
    expect((await attempt.beats()).status).toBe(200);
  });

  it("leaves the log as one blob, and no alarm", async () => {
    const { buildId, object, attempt } = await runningBuild();
    await attempt.writesLog(0, "first line\n");
    await attempt.writesLog(11, "second line\n");
    await attempt.call("fail", { kind: "failed", reason: "Problem: nothing provides x" });

    await runAlarm(buildId);

    expect(await (await env.BLOBS.get(logKey(attempt.uid)))?.text()).toBe("first line\nsecond line\n");
    expect(await alarmOf(buildId)).toBeNull();
    const { bytes, length } = (await object.readLog({ from: 6, maxBytes: 4 })) ?? {};
    expect([new TextDecoder().decode(bytes), length]).toEqual(["line", 23]);
  });

  it("succeeds with a log that was never written", async () => {
    const { buildId, object } = await queuedBuild();
    await object.cancel();

    await runAlarm(buildId);

    expect((await env.BLOBS.head(logKey((await rowOfBuild(buildId)).uid)))?.size).toBe(0);
  });
});

async function logOf(buildId: number): Promise<string> {
  const slice = await (await objectOfBuild(buildId)).readLog({ from: 0, maxBytes: 1000 });
  return new TextDecoder().decode(slice?.bytes);
}

describe("the log of a build", () => {
  it.each([
    { what: "the next chunk", offset: 6, text: "world\n", nextOffset: 12, whole: "hello\nworld\n" },
    { what: "the same chunk again", offset: 0, text: "hello\n", nextOffset: 6, whole: "hello\n" },
    { what: "a chunk that overlaps", offset: 3, text: "lo\nworld\n", nextOffset: 12, whole: "hello\nworld\n" },
    { what: "a chunk after a gap", offset: 7, text: "orld\n", nextOffset: 6, whole: "hello\n" },
    { what: "an empty chunk", offset: 6, text: "", nextOffset: 6, whole: "hello\n" },
  ])("accepts $what", async ({ offset, text, nextOffset, whole }) => {
    const { buildId, attempt } = await runningBuild();
    await attempt.writesLog(0, "hello\n");

    const answer = await attempt.writesLog(offset, text);

    expect(await answer.json()).toEqual({ nextOffset });
    expect(await logOf(buildId)).toBe(whole);
  });

  it("keeps a lost attempt's log, and counts the next from 0", async () => {
    const { buildId, agent, attempt } = await runningBuild();
    await attempt.writesLog(0, "half a li");
    await attempt.call("release");
    const second = await agent.claimsBuild(buildId);

    expect(await (await second.writesLog(0, "anew\n")).json()).toEqual({ nextOffset: 5 });

    expect(await logOf(buildId)).toBe("half a li\n---- attempt 2 ----\nanew\n");
  });

  it("is truncated with a notice when it gets too long", async () => {
    const { buildId, attempt, object } = await runningBuild();
    await runInDurableObject(object, (_build, { storage }) => {
      storage.kv.put("log", { attempt: 1, received: 100, length: maxLogBytes - 4, cut: false });
    });

    expect(await (await attempt.writesLog(100, "1234567\n")).json()).toEqual({ nextOffset: 108 });
    expect(await (await attempt.writesLog(108, "more\n")).json()).toEqual({ nextOffset: 113 });

    const slice = await (await objectOfBuild(buildId)).readLog({ from: maxLogBytes - 4, maxBytes: 1000 });
    expect(new TextDecoder().decode(slice?.bytes)).toMatch(/^1234\n---- the log was cut here: .*64 MiB ----\n$/);
  });

  it("wakes a waiting reader", async () => {
    const { attempt, object } = await runningBuild();
    const seen = (await object.readLog({ from: 0, maxBytes: 10 }))?.revision ?? -1;

    const waiting = object.readLog({ from: 0, maxBytes: 10, waitMs: 10_000, seen });
    await attempt.writesLog(0, "news\n");

    expect(new TextDecoder().decode((await waiting)?.bytes)).toBe("news\n");
  });
});
