/** Appliances that follow updates are built again when their images are outdated. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { acceptReport } from "#domain/checks/report";
import type { CheckResult } from "#lib/contract/index";
import { listQueued } from "#storage/build-queue";
import { listCheckRuns, takeCheckRun } from "#storage/check-runs";
import { listPublishedVersions } from "#storage/publications";
import { findWatch } from "#storage/watches";
import { channelsAt } from "../support/channels.ts";
import { checkReport } from "../support/check-report.ts";
import { signedIn, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { whileAway } from "../support/storage-faults.ts";
import { takeChores } from "../support/sweep.ts";
import { db } from "../support/testdrives.ts";

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
const failed: CheckResult = { outcome: "failed", seen: "", seconds: 12 };
const fix = ["base-files 12.4+deb12u13"];

let tux: Client;
let mirror: Awaited<ReturnType<typeof loadDebian>>;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  mirror = await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
});

const configure = async (configuration: unknown) => {
  const sent = JSON.stringify({ configuration });
  const answer = await tux.put(`/appliances/${applianceId}/configuration`, sent, "application/json");
  expect(answer.status).toBe(200);
};
const follow = (automatic_rebuilds: string, more: object = {}) =>
  configure({ settings: { automatic_rebuilds }, ...more });

async function finish(buildId: number): Promise<void> {
  const installed = [{ name: "base-files", version: "12.4+deb12u12", release: "", arch: "amd64" }];
  await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed });
}

/** Publishes the first version, and gives it to an automatic channel. */
async function release(): Promise<void> {
  const buildId = await startBuild(tux, applianceId);
  await finish(buildId);
  await check(buildId, passed);
  expect((await publish(tux, applianceId, "0.0.1")).status).toBe(200);
  await tux.put(`/appliances/${applianceId}/channels/stable?automatic=true`, "");
  expect(await head()).toBe("0.0.1");
}

/** An agent runs the checks of a build, if there are any. */
async function check(buildId: number, result: CheckResult): Promise<void> {
  const [run] = await listCheckRuns(db, buildId);
  if (!run) return;
  const testdriveUid = crypto.randomUUID();
  expect(await takeCheckRun(db, run, { testdriveUid, wakeAt: new Date(Date.now() + 600_000) })).toBe(true);
  expect(await acceptReport({ env, db }, testdriveUid, checkReport([result]))).toBe("stored");
}

/** Looks at this appliance only, as if this much time had passed. */
async function look(ms = 0): Promise<void> {
  const at = Date.now() + ms;
  await env.DB.batch([
    env.DB.prepare("UPDATE watches SET look_at = ? WHERE appliance_id <> ?").bind(at + 1000 * dayMs, applianceId),
    env.DB.prepare("UPDATE watches SET look_at = min(look_at, ?) WHERE appliance_id = ?").bind(at, applianceId),
  ]);
  await takeChores([{ body: { chore: "watchImages", at } }]);
}

const head = async () => (await channelsAt(tux, `/appliances/${applianceId}/channels`))[0]?.version;
const rebuild = async () => await findWatch(db, applianceId);
const rebuilds = async () => {
  const all = await env.DB.prepare("SELECT id, version, status FROM builds WHERE appliance_id = ? AND is_rebuild")
    .bind(applianceId)
    .all<{ id: number; version: string; status: string }>();
  return all.results;
};
async function theRebuild(): Promise<number> {
  const [one, ...others] = await rebuilds();
  expect(others).toEqual([]);
  if (!one) throw new Error("nothing is rebuilt");
  return one.id;
}

it("gets a security update into the channel, after its checks have passed", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await look();
  expect(await rebuilds()).toEqual([]);

  await mirror.publish({ security: fix });
  await Promise.all([look(), look()]);
  await look();
  const id = await theRebuild();
  await finish(id);
  await look();
  expect([await head(), (await rebuild())?.rebuildState]).toEqual(["0.0.1", "building"]);
  await check(id, passed);
  await look();
  await look();

  expect(await head()).toBe("0.0.2");
  expect(await rebuild()).toMatchObject({
    rebuildState: "done",
    rebuildFrom: "0.0.1",
    rebuildVersion: "0.0.2",
    rebuildMessage: "Rebuilt with base-files 12.4+deb12u13. It is in stable.",
  });
  await look(hourMs);
  expect(await rebuilds()).toHaveLength(1);
});

it("never moves a channel if the checks fail", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await mirror.publish({ security: fix });
  await look();
  const id = await theRebuild();
  await finish(id);
  await check(id, failed);
  await look();
  expect(await rebuild()).toMatchObject({ rebuildState: "failed" });
  expect((await rebuild())?.rebuildMessage).toMatch(
    /^Version 0\.0\.2 \(oem\) is not released, because a check failed: /,
  );
  expect([await head(), await listPublishedVersions(db, applianceId)]).toEqual(["0.0.1", ["0.0.1"]]);
});

it("tries a failed build again when an index changes, and not before", async () => {
  await follow("security");
  await release();
  await mirror.publish({ security: fix });
  await look();
  const attempt = await (await fakeAgent()).claimsBuild(await theRebuild());
  await attempt.call("fail", { kind: "failed", reason: "A script ended with 1." });
  await look();
  expect(await rebuild()).toMatchObject({
    rebuildState: "failed",
    rebuildMessage: "The build of oem ended: A script ended with 1.",
  });

  await look(2 * hourMs);
  expect(await rebuilds()).toHaveLength(1);
  await mirror.publish({ security: ["base-files 12.4+deb12u14"] });
  await look();
  expect(await rebuilds()).toHaveLength(1);
  await look(2 * hourMs);
  expect(await rebuilds()).toMatchObject([{ status: "failed" }, { status: "queued", version: "0.0.2" }]);
  expect(await head()).toBe("0.0.1");
});

const rebuildsAfter = async (follows: string, published: { main?: string[]; security?: string[] }) => {
  if (follows !== "") await follow(follows);
  await finish(await startBuild(tux, applianceId));
  await mirror.publish(published);
  await look();
  return (await rebuilds()).length;
};

describe("an appliance", () => {
  it("is not rebuilt by default", async () => expect(await rebuildsAfter("", { security: fix })).toBe(0));
  it("that follows security updates is not rebuilt for others", async () =>
    expect(await rebuildsAfter("security", { main: fix })).toBe(0));
  it("can follow all updates", async () => expect(await rebuildsAfter("all", { main: fix })).toBe(1));

  it("that was changed since its last image is left to its owner", async () => {
    await follow("security");
    await finish(await startBuild(tux, applianceId));
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "apache2" });
    await mirror.publish({ security: fix });
    await look();

    expect(await rebuilds()).toEqual([]);
    expect(await rebuild()).toMatchObject({ rebuildState: "refused" });
    expect((await rebuild())?.rebuildMessage).toContain("was changed after version 0.0.1 was built");
  });

  it("that has only begun to follow updates is not a changed one", async () => {
    await finish(await startBuild(tux, applianceId));
    await follow("security");
    await mirror.publish({ security: fix });
    await look();
    expect(await rebuilds()).toHaveLength(1);
  });

  it("that cannot be built is not rebuilt, and the reason is kept", async () => {
    await follow("security");
    await finish(await startBuild(tux, applianceId));
    await tux.post(`/appliances/${applianceId}/cmd/ban_package`, { name: "base-files" });
    await mirror.publish({ security: fix });
    await look();
    expect(await rebuilds()).toEqual([]);
    expect(await rebuild()).toMatchObject({ rebuildState: "refused", rebuildMessage: expect.stringMatching(/./) });
  });
});

it("waits behind the builds of people", async () => {
  await follow("security");
  await finish(await startBuild(tux, applianceId));
  await mirror.publish({ security: fix });
  await look();
  const id = await theRebuild();
  const other = await signedIn();
  const own = await startBuild(other, await createAppliance(other, { clone_from: 900 }));

  const queued = (await listQueued(db, { limit: 1000 })).map(({ build }) => build.id);
  expect(queued.indexOf(own)).toBeLessThan(queued.indexOf(id));
});

it("starts and publishes once if any storage call fails", async () => {
  await follow("security");
  await release();
  await mirror.publish({ security: fix });
  await lookWithEachFailure();
  await look();
  const id = await theRebuild();
  await finish(id);
  await lookWithEachFailure();
  await look();

  await theRebuild();
  expect(await head()).toBe("0.0.2");
  expect((await listPublishedVersions(db, applianceId)).toSorted()).toEqual(["0.0.1", "0.0.2"]);
  expect(await rebuild()).toMatchObject({ rebuildState: "done" });
});

/** Looks again and again; each time another one of the storage calls fails. */
async function lookWithEachFailure(): Promise<void> {
  for (let nth = 0, calls = 1; nth < calls; nth += 1) {
    calls = 0;
    await whileAway(
      () => (calls += 1) === nth + 1,
      () => look().catch(() => {}),
    );
  }
}
