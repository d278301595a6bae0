import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { buildLeaseMs, heartbeatEveryMs } from "#lib/contract/index";
import { sent } from "../api/every-call/send.ts";
import { attemptsLost, cancelAllBuilds, objectOfBuild, runAlarm, rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, type Attempt } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { runningBuild } from "../support/running-build.ts";
import { isD1, whileHanging } from "../support/storage-faults.ts";
import { readXml } from "../support/xml.ts";

/** D1 does not answer for a minute, neither with rows nor with an error. No build may lose an attempt. */

let tux: Client;
let lostBefore: number;
beforeEach(async () => {
  tux = await signedIn();
  lostBefore = await attemptsLost();
});
afterEach(() => {
  vi.useRealTimers();
});

const passTime = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

it("a running build keeps its agent, and is finished", async () => {
  const { buildId, attempt } = await runningBuild(tux);
  await attempt.beats();
  await attempt.uploads(bytesOf("image"));
  const object = await objectOfBuild(buildId);
  const waiting: Promise<unknown>[] = [];
  await whileHanging(isD1, async () => {
    for (let ms = 0; ms < 60_000; ms += heartbeatEveryMs) {
      passTime(heartbeatEveryMs);
      waiting.push(runDurableObjectAlarm(object));
      expect((await attempt.beats()).status).toBe(200);
    }
    waiting.push(attempt.finishes()); // its answer waits for D1, and its agent waits 15 s
    await vi.waitFor(async () => expect((await attempt.finishes()).status).toBe(200), patienceMs);
  });
  await Promise.all(waiting);
  await runAlarm(buildId);
  expect((await rowOfBuild(buildId)).status).toBe("finished");
  expect(await attemptsLost()).toBe(lostBefore);
});

it("a silent agent keeps its build until D1 was there for a lease", async () => {
  const { buildId, attempt } = await runningBuild(tux);
  await attempt.beats();
  const object = await objectOfBuild(buildId);
  let alarm: Promise<unknown> | undefined;
  await whileHanging(isD1, async () => {
    passTime(buildLeaseMs);
    alarm = runDurableObjectAlarm(object);
    await scheduler.wait(50);
    passTime(buildLeaseMs);
  });
  await alarm;
  expect((await attempt.beats()).status).toBe(200);
});

it.each([
  ["asks again", true],
  ["has given up", false],
])("a build whose claim hangs loses no attempt, if its agent %s", async (_, asksAgain) => {
  const agent = await fakeAgent();
  await cancelAllBuilds();
  const buildId = await startBuild(tux, await createAppliance(tux));
  const object = await objectOfBuild(buildId);
  const nonce = crypto.randomUUID();
  const waiting: Promise<unknown>[] = [];
  let isClaimed = false;
  const hangs = (name: string) => (isClaimed ||= name === "object claim") && isD1(name);
  await whileHanging(hangs, async () => {
    waiting.push(agent.claims({ nonce }));
    await vi.waitFor(() => expect(isClaimed).toBe(true), patienceMs);
    await scheduler.wait(50);
    for (let ms = 0; ms < 60_000; ms += heartbeatEveryMs) {
      passTime(heartbeatEveryMs);
      waiting.push(runDurableObjectAlarm(object));
    }
  });
  await Promise.all(waiting);
  if (!asksAgain) {
    passTime(buildLeaseMs);
    await runDurableObjectAlarm(object);
  }
  const again: Attempt | undefined = await agent.claims(asksAgain ? { nonce, isRepeated: true } : {});
  expect(again?.claim.buildId).toBe(buildId);
  expect((await again?.beats())?.status).toBe(200);
  expect(await attemptsLost()).toBe(lostBefore);
});

it("a user's request waits, and its repetition under the same key makes no second build", async () => {
  const path = `/running_builds?appliance_id=${await createAppliance(tux)}`;
  const key = crypto.randomUUID();
  const post = () => sent({ method: "POST", path, credentials: tux, key });
  const answers: Promise<Response>[] = [];
  await whileHanging(isD1, async () => {
    answers.push(post());
    await scheduler.wait(50);
    answers.push(post());
    await scheduler.wait(50);
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toContain(200);
  const { build } = await readXml(await post());
  const made = await env.DB.prepare("SELECT id FROM builds WHERE account_id = ?").bind(tux.accountId).all();
  expect(made.results).toEqual([{ id: Number(build.id) }]);
});
