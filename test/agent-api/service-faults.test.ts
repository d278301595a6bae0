import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { buildLeaseMs, heartbeatEveryMs } from "#lib/contract/index";
import { installedKey } from "#storage/blobs";
import { cancelAllBuilds, objectOfBuild, runAlarm, rowOfBuild } from "../support/builds.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, capabilities, fakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { runningBuild } from "../support/running-build.ts";
import { isD1, isR2, whileAway, whilePutWaits } from "../support/storage-faults.ts";

const one = { version: "1", release: "1", arch: "x86_64" };

/** Faults of the service itself. No build may lose an attempt by them. */

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});
afterEach(() => {
  vi.useRealTimers();
});

const passTime = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

describe("while R2 is away", () => {
  it("a claim costs no build an attempt", async () => {
    const agent = await fakeAgent();
    await cancelAllBuilds();
    const ids = [];
    for (let n = 0; n < 2; n += 1) ids.push(await startBuild(tux, await createAppliance(tux)));
    await whileAway(isR2, async () => {
      for (let n = 0; n < 6; n += 1) expect(await agent.claims()).toBeUndefined();
    });
    for (const id of ids) expect(await rowOfBuild(id)).toMatchObject({ status: "queued" });
  });
});

describe("while D1 is away", () => {
  it("a running build keeps its agent, which sends heartbeats, log and parts", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    const object = await objectOfBuild(buildId);
    const image = bytesOf("image");
    await attempt.opensUpload(image.byteLength);
    const statuses: number[] = [];
    await whileAway(isD1, async () => {
      for (let n = 0; n < 5; n += 1) {
        passTime(heartbeatEveryMs);
        statuses.push((await attempt.beats()).status);
        await runDurableObjectAlarm(object);
      }
      statuses.push((await attempt.writesLog(0, "hello\n")).status, (await attempt.sendsPart(1, image)).status);
    });
    expect(statuses).toEqual(Array.from(statuses, () => 200));
    expect((await attempt.beats()).status).toBe(200);
  });

  it("a build is finished, and D1 learns it later", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    await attempt.uploads(bytesOf("image"));
    await whileAway(isD1, async () => {
      expect((await attempt.finishes()).status).toBe(200);
      expect((await attempt.finishes()).status).toBe(200);
    });
    expect((await rowOfBuild(buildId)).status).toBe("running");
    await runAlarm(buildId);
    expect((await rowOfBuild(buildId)).status).toBe("finished");
  });

  it("a silent agent keeps its build, and loses it when D1 is back", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    await attempt.beats();
    const object = await objectOfBuild(buildId);
    await whileAway(isD1, async () => {
      passTime(buildLeaseMs);
      await runDurableObjectAlarm(object);
      expect((await attempt.beats()).status).toBe(200);
    });
    passTime(buildLeaseMs);
    await runDurableObjectAlarm(object);
    expect((await attempt.beats()).status).toBe(410);
    expect((await rowOfBuild(buildId)).status).toBe("queued");
  });
});

describe("when the service itself stood still", () => {
  it("a lease that ended meanwhile is renewed once", async () => {
    const { buildId, attempt } = await runningBuild(tux);
    await attempt.beats();
    const object = await objectOfBuild(buildId);
    passTime(2 * buildLeaseMs);
    await runDurableObjectAlarm(object);
    expect((await attempt.beats()).status).toBe(200);
    passTime(buildLeaseMs);
    await runDurableObjectAlarm(object);
    expect((await attempt.beats()).status).toBe(410);
  });
});

const host = "a".repeat(32);
const first = { host, start: 1 };

describe("hello", () => {
  it.each([
    ["repeated", first, 200],
    ["of an earlier process, which arrives late", { host, start: 0 }, 200],
    ["of another host with the same token", { host: "b".repeat(32), start: 2 }, 200],
    ["of an older agent", undefined, 200],
    ["of the next process", { host, start: 2 }, 410],
  ])("%s: the heartbeat after it gets what it should", async (_, incarnation, expected) => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent();
    const attempt = await agent.claimsBuild(buildId, { incarnation: first });
    await agent.hello({}, { incarnation });
    expect((await attempt.beats()).status).toBe(expected);
  });

  it("reports that another host uses the token", async () => {
    await cancelAllBuilds();
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent();
    await agent.claimsBuild(buildId, { incarnation: first });
    const other = { host: "b".repeat(32), start: 2 };
    expect(await agent.hello({}, { incarnation: other })).toMatchObject({ endedLeases: 0, elsewhere: 1 });
    expect(await agent.hello({}, { incarnation: first })).not.toHaveProperty("elsewhere");
  });
});

describe("a claim", () => {
  beforeEach(cancelAllBuilds);

  it("gets the same answer again if the first one is lost", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent();
    const nonce = crypto.randomUUID();
    const lost = await agent.claimsBuild(buildId, { nonce });
    const again = await agent.claims({ nonce, isRepeated: true });
    expect(again?.claim).toEqual(lost.claim);
    expect((await again?.beats())?.status).toBe(200);
  });

  it("of another nonce gets another build, or none", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent();
    await agent.claimsBuild(buildId, { nonce: crypto.randomUUID() });
    expect(await agent.claims({ nonce: crypto.randomUUID(), isRepeated: true })).toBeUndefined();
  });

  it("whose answer never arrives costs no attempt", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent();
    const object = await objectOfBuild(buildId);
    for (let n = 0; n < 4; n += 1) {
      await agent.claimsBuild(buildId);
      passTime(buildLeaseMs);
      await runDurableObjectAlarm(object);
    }
    expect(await object.progress()).toMatchObject({ state: "queued" });
  });
});

describe("an attempt that is late with its end", () => {
  it("does not change what the next one says of the image", async () => {
    const { buildId, agent, attempt } = await runningBuild(tux);
    await attempt.uploads(bytesOf("image"));
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let late: Promise<Response> | undefined;
    await whilePutWaits(reached, goOn, async () => {
      late = attempt.finishes({ installed: [{ ...one, name: "late" }] });
      await reached.promise;
      await attempt.call("release");
      await agent.buildsSuccessfully(buildId, bytesOf("second"), { installed: [{ ...one, name: "winner" }] });
      goOn.resolve();
      expect((await late)?.status).toBe(410);
    });
    expect(await (await env.BLOBS.get(installedKey(attempt.uid)))?.json()).toMatchObject([{ name: "winner" }]);
  });
});

describe("a removed agent", () => {
  it("is refused immediately, and its work goes to another", async () => {
    const name = `a-${crypto.randomUUID().slice(0, 8)}`;
    const buildId = await startBuild(tux, await createAppliance(tux));
    const agent = await fakeAgent(name);
    const attempt = await agent.claimsBuild(buildId);
    await attempt.beats();
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    webSocket?.accept();
    const closed = new Promise<number>((resolve) => webSocket?.addEventListener("close", ({ code }) => resolve(code)));

    expect((await operate("DELETE", `/agents/${name}`)).status).toBe(200);

    expect((await attempt.beats()).status).toBe(410);
    expect((await agent.call("POST", "/hello", { json: { capabilities } })).status).toBe(401);
    expect(await closed).toBe(1008);
    expect((await (await fakeAgent()).claimsBuild(buildId)).claim.attempt).toBe(2);
  });

  it("loses a build that it had got just then with its next sign of life", async () => {
    const { buildId, agent, attempt } = await runningBuild(tux);
    await env.DB.prepare("DELETE FROM agents WHERE id = ?").bind(agent.id).run();
    await attempt.beats();
    await vi.waitFor(async () => expect((await rowOfBuild(buildId)).status).toBe("queued"), patienceMs);
    expect((await attempt.beats()).status).toBe(410);
  });
});
