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
let presentHour: number;
beforeEach(async () => {
  presentHour = Math.floor(Date.now() / hourMs) * hourMs;
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
const follow = (automatic_builds: string, more: object = {}) => configure({ settings: { automatic_builds }, ...more });

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
const watch = async () => await findWatch(db, applianceId);
const builds = async () => {
  const all = await env.DB.prepare("SELECT id, version, status FROM builds WHERE appliance_id = ? AND is_background")
    .bind(applianceId)
    .all<{ id: number; version: string; status: string }>();
  return all.results;
};
async function theBuild(): Promise<number> {
  const [one, ...others] = await builds();
  expect(others).toEqual([]);
  if (!one) throw new Error("nothing is built again");
  return one.id;
}

it("gets a security update into the channel, after its checks have passed", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await look();
  expect(await builds()).toEqual([]);

  await mirror.publish({ security: fix });
  await Promise.all([look(), look()]);
  await look();
  const id = await theBuild();
  await finish(id);
  await look();
  expect([await head(), (await watch())?.automaticState]).toEqual(["0.0.1", "building"]);
  await check(id, passed);
  await look();
  await look();

  expect(await head()).toBe("0.0.2");
  expect(await watch()).toMatchObject({
    automaticState: "done",
    automaticFrom: "0.0.1",
    automaticVersion: "0.0.2",
    automaticMessage: "Built again with base-files 12.4+deb12u13. It is in stable.",
  });
  await look(hourMs);
  expect(await builds()).toHaveLength(1);
});

it("never moves a channel if the checks fail", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await mirror.publish({ security: fix });
  await look();
  const id = await theBuild();
  await finish(id);
  await check(id, failed);
  await look();
  expect(await watch()).toMatchObject({ automaticState: "failed" });
  expect((await watch())?.automaticMessage).toMatch(
    /^Version 0\.0\.2 \(oem\) is not released, because a check failed: /,
  );
  expect([await head(), await listPublishedVersions(db, applianceId)]).toEqual(["0.0.1", ["0.0.1"]]);
});

it("tries a failed build again when an index changes, and not before", async () => {
  await follow("security");
  await release();
  await mirror.publish({ security: fix });
  await look();
  const attempt = await (await fakeAgent()).claimsBuild(await theBuild());
  await attempt.call("fail", { kind: "failed", reason: "A script ended with 1." });
  await look();
  expect(await watch()).toMatchObject({
    automaticState: "failed",
    automaticMessage: "The build of oem ended: A script ended with 1.",
  });

  await look(2 * hourMs);
  expect(await builds()).toHaveLength(1);
  await mirror.publish({ security: ["base-files 12.4+deb12u14"] });
  await look();
  expect(await builds()).toHaveLength(1);
  await look(2 * hourMs);
  expect(await builds()).toMatchObject([{ status: "failed" }, { status: "queued", version: "0.0.2" }]);
  expect(await head()).toBe("0.0.1");
});

const buildsAfter = async (follows: string, published: { main?: string[]; security?: string[] }) => {
  if (follows !== "") await follow(follows);
  await finish(await startBuild(tux, applianceId));
  await mirror.publish(published);
  await look();
  return (await builds()).length;
};

describe("an appliance", () => {
  it("is not built again by default", async () => expect(await buildsAfter("", { security: fix })).toBe(0));
  it("that follows security updates is not built again for others", async () =>
    expect(await buildsAfter("security", { main: fix })).toBe(0));
  it("can follow all updates", async () => expect(await buildsAfter("all", { main: fix })).toBe(1));

  it("that was changed since its last image is left to its owner", async () => {
    await follow("security");
    await finish(await startBuild(tux, applianceId));
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "apache2" });
    await mirror.publish({ security: fix });
    await look();

    expect(await builds()).toEqual([]);
    expect(await watch()).toMatchObject({ automaticState: "refused" });
    expect((await watch())?.automaticMessage).toContain("was changed after version 0.0.1 was built");
  });

  it("that has only begun to follow updates is not a changed one", async () => {
    await finish(await startBuild(tux, applianceId));
    await follow("security");
    await mirror.publish({ security: fix });
    await look();
    expect(await builds()).toHaveLength(1);
  });

  it("that cannot be built is not built again, and the reason is kept", async () => {
    await follow("security");
    await finish(await startBuild(tux, applianceId));
    await tux.post(`/appliances/${applianceId}/cmd/ban_package`, { name: "base-files" });
    await mirror.publish({ security: fix });
    await look();
    expect(await builds()).toEqual([]);
    expect(await watch()).toMatchObject({ automaticState: "refused", automaticMessage: expect.stringMatching(/./) });
  });
});

/** An hour that begins this many hours after the present one. */
const windowIn = (hours: number) => `${hourOf(hourIn(hours))}-${hourOf(hourIn(hours + 1))}`;
const hourOf = (at: number) => new Date(at).toISOString().slice(11, 16);
/** The start of the hour that is this many hours after the present one. */
const hourIn = (hours: number) => presentHour + hours * hourMs;
const outdated = async (window: string) => {
  await configure({ settings: { automatic_builds: "security", automatic_builds_at: window } });
  const buildId = await startBuild(tux, applianceId);
  await finish(buildId);
  await mirror.publish({ security: fix });
  return buildId;
};
const waits = async (buildId: number) => {
  const answer = await tux.get(`/builds/${buildId}/updates`, { headers: { accept: "application/json" } });
  return (await answer.json<{ updates: { automatic_build_waits_until?: string } }>()).updates
    .automatic_build_waits_until;
};

describe("with a window", () => {
  it("waits for it, says until when, and begins in it", async () => {
    const buildId = await outdated(windowIn(3));
    await look();
    expect(await builds()).toEqual([]);
    expect(Date.parse((await waits(buildId)) ?? "")).toBe(hourIn(3));

    await look(hourIn(3) - Date.now());
    await theBuild();
    expect(await waits(buildId)).toBeUndefined();
  });

  it("looks again when it opens", async () => {
    await outdated(windowIn(1));
    await look(hourIn(1) - Date.now() - 60_000);
    expect((await watch())?.lookAt.getTime()).toBe(hourIn(1));
  });

  it("waits for the next one if nobody looked in it", async () => {
    await outdated(windowIn(3));
    await look(hourIn(4) - Date.now());
    expect(await builds()).toEqual([]);
    await look(hourIn(27) - Date.now());
    await theBuild();
  });

  it("begins at once if it is changed to the present, or removed", async () => {
    await outdated(windowIn(3));
    await look();
    await configure({ settings: { automatic_builds_at: "" } });
    expect((await watch())?.lookAt.getTime()).toBeLessThanOrEqual(Date.now());
    await look();
    await theBuild();
  });

  it("does not hold up a person's build", async () => {
    await outdated(windowIn(3));
    expect(await startBuild(tux, applianceId)).toBeGreaterThan(0);
  });
});

it("waits behind the builds of people", async () => {
  await follow("security");
  await finish(await startBuild(tux, applianceId));
  await mirror.publish({ security: fix });
  await look();
  const id = await theBuild();
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
  const id = await theBuild();
  await finish(id);
  await lookWithEachFailure();
  await look();

  await theBuild();
  expect(await head()).toBe("0.0.2");
  expect((await listPublishedVersions(db, applianceId)).toSorted()).toEqual(["0.0.1", "0.0.2"]);
  expect(await watch()).toMatchObject({ automaticState: "done" });
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
