import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { buildPrefix } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { findTestdrive } from "#storage/testdrives";
import { cancelAllBuilds, objectOfBuild, seenRunning } from "../support/builds.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { listen } from "../support/events.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { bookmark, restore } from "../support/restore.ts";
import { sweepIn } from "../support/sweep.ts";
import { objectOf, untilRowIs, runningDrive, startDrive } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";
import { patienceMs } from "../support/patience.ts";

const db = openDatabase(env);
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const keysBelow = async (prefix: string) => (await env.BLOBS.list({ prefix })).objects.map(({ key }) => key);
const statusOf = async (buildId: number) => (await findAnyBuild(db, buildId))?.status;

async function download(buildId: number): Promise<string> {
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  return await (await visit(new URL(build.download_url).pathname)).text();
}

describe("a database restored to an earlier time", () => {
  it("reuses ids, and their builds are built", async () => {
    const agent = await fakeAgent();
    const applianceId = await createAppliance(tux);
    const moment = await bookmark();
    const lost = await startBuild(tux, applianceId);
    await agent.buildsSuccessfully(lost, bytesOf("lost"));

    await restore(moment);
    const again = await startBuild(tux, applianceId);

    expect(again).toBe(lost);
    expect(await seenRunning(tux, again)).toMatchObject({ state: "queued" });
    await agent.buildsSuccessfully(again, bytesOf("of the new one"));
    expect(await download(again)).toBe("of the new one");
  });

  it("hides no build behind stale rows, and the sweep updates them", async () => {
    const agent = await fakeAgent();
    await cancelAllBuilds();
    const waiting = [];
    // An account can run four at a time.
    for (const account of [tux, await signedIn(), await signedIn()]) {
      for (let nth = 0; nth < 4; nth += 1) waiting.push(await startBuild(account, await createAppliance(account)));
    }
    const [finished = 0, running = 0, ...cancelled] = waiting;
    const moment = await bookmark();
    await agent.buildsSuccessfully(finished, bytesOf("finished"));
    const attempt = await agent.claimsBuild(running);
    for (const buildId of cancelled) await (await objectOfBuild(buildId)).cancel();

    await restore(moment);
    const rhea = await signedIn();
    const latest = await startBuild(rhea, await createAppliance(rhea));

    expect((await agent.claims())?.claim.buildId).toBe(latest);
    await sweepIn(2 * minuteMs);
    expect(await Promise.all([finished, running, cancelled[0] ?? 0].map(statusOf))).toEqual([
      "finished",
      "running",
      "cancelled",
    ]);
    expect(await download(finished)).toBe("finished");
    await attempt.uploads(bytesOf("running"));
    expect((await attempt.finishes()).status).toBe(200);
    expect(await download(running)).toBe("running");
  });

  it("restarts builds that its rows call running and the object has forgotten", async () => {
    const agent = await fakeAgent();
    const buildId = await startBuild(tux, await createAppliance(tux));
    const attempt = await agent.claimsBuild(buildId);
    const moment = await bookmark();
    await attempt.uploads(bytesOf("deleted"));
    await attempt.finishes();
    await tux.delete(`/builds/${buildId}`);
    expect(await statusOf(buildId)).toBeUndefined();

    await restore(moment);
    await sweepIn(2 * minuteMs);

    expect(await seenRunning(tux, buildId)).toMatchObject({ state: "queued" });
    await agent.buildsSuccessfully(buildId, bytesOf("built again"));
    expect(await download(buildId)).toBe("built again");
  });

  it("keeps every blob that its rows name if deletions were paused", async () => {
    const { applianceId, buildId, agent } = await createBuild(tux, bytesOf("an image"));
    const { id: fileId } = await uploadFile(tux, applianceId, "a content");
    const moment = await bookmark();
    const named = await keysBelow("");
    const pause = await operate("PUT", "/deletions", { paused: true });
    const { since } = await pause.json<{ since: string }>();

    const lost = await agent.buildsSuccessfully(
      await startBuild(tux, applianceId, { version: "0.0.1", force: "1" }),
      bytesOf("another"),
    );
    await tux.delete(`/files/${fileId}`);
    await sweepIn(40 * dayMs);
    await restore(moment);
    expect(await (await operate("GET", "/deletions")).json()).toEqual({ paused: true, since });
    await sweepIn(40 * dayMs);

    expect(await keysBelow("")).toEqual(expect.arrayContaining(named));
    expect(await download(buildId)).toBe("an image");
    expect(await (await tux.get(`/files/${fileId}/data`)).text()).toBe("a content");
    await operate("PUT", "/deletions", { paused: false });
    await sweepIn(2 * 60 * minuteMs);
    expect(await keysBelow(buildPrefix(lost.uid))).toEqual([]);
    expect(await download(buildId)).toBe("an image");
  });

  it("ends lost builds: queued ones by alarm, running ones by heartbeat", async () => {
    const agent = await fakeAgent();
    const moment = await bookmark();
    const attempt = await agent.claimsBuild(await startBuild(tux, await createAppliance(tux)));
    const queued = await objectOfBuild(await startBuild(tux, await createAppliance(tux)));

    await restore(moment);
    await runDurableObjectAlarm(queued);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minuteMs });
    await attempt.beats();
    vi.useRealTimers();

    expect(await queued.progress()).toMatchObject({ state: "cancelled" });
    // A heartbeat does not wait for the database.
    const next = async () => (await attempt.beats()).json();
    await vi.waitFor(async () => expect(await next()).toEqual({ cancel: true }), patienceMs);
  });

  it("starts testdrives under lost ids, and updates stale rows", async () => {
    const ended = await runningDrive(tux);
    const moment = await bookmark();
    const lost = await startDrive(tux);
    await objectOf(lost).stop();
    await objectOf(ended).stop();
    await untilRowIs(ended, "ended");

    await restore(moment);
    const again = await startDrive(tux);

    expect(again.id).toBe(lost.id);
    expect((await findTestdrive(db, ended.id))?.state).toBe("running");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6 * minuteMs });
    await sweepIn(0);
    vi.useRealTimers();
    expect((await findTestdrive(db, ended.id))?.state).toBe("ended");
    await objectOf(again).stop();
  });

  it("reports events of this account only, also for reused ids", async () => {
    const moment = await bookmark();
    const { buildId: lost } = await createBuild(await signedIn(), bytesOf("of an account that is lost"));

    await restore(moment);
    const rhea = await signedIn();
    const { buildId } = await createBuild(rhea, bytesOf("of the new one"));

    expect(buildId).toBe(lost);
    const listener = await listen(rhea, "0");
    for (const event of ["build.queued", "build.started", "build.finished"]) {
      expect(await listener.next()).toMatchObject({ event, data: { account: rhea.username, build: { id: buildId } } });
    }
    await listener.close();
  });
});
