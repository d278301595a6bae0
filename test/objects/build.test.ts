import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { artifactNames, buildLeaseMs } from "#lib/contract/index";
import { timeLimitMs, wakeUpEveryMs } from "#domain/builds/machine";
import { longQueueMs } from "#domain/builds/why-waiting";
import { mailbox } from "#domain/jobs";
import { artifactKey, attestationsKey, installedKey, logKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { queuedBuild, runningBuild } from "../support/build-objects.ts";
import { objectOfBuild, runAlarm, rowOfBuild } from "../support/builds.ts";
import type { Client } from "../support/client.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { connect } from "../support/pool.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);

const seenBy = async (tux: Client, buildId: number) =>
  (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

const alarmOf = async (buildId: number) =>
  runInDurableObject(await objectOfBuild(buildId), (_build, { storage }) => storage.getAlarm());

/** Takes all wake-ups out of the mailbox. Returns how many are for this build. */
async function wakeUpsFor(buildId: number): Promise<number> {
  const { messages } = await mailbox(env).pull({ batchSize: 100, visibilityTimeoutMs: 60_000 });
  await mailbox(env).acknowledge({ acks: messages.map(({ lease_id: leaseId }) => leaseId), retries: [] });
  return messages.filter(({ body }) => JSON.parse(atob(body)).buildId === buildId).length;
}

/** Sets the clock that objects read. Tests run alarms themselves. */
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
