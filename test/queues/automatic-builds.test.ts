/** Appliances that follow updates are rebuilt when their images are outdated. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { acceptReport } from "#domain/checks/report";
import type { CheckResult } from "#lib/contract/index";
import { listQueued } from "#storage/build-queue";
import { listCheckRuns, takeCheckRun } from "#storage/check-runs";
import { listPublishedVersions } from "#storage/publications";
import { channelsAt } from "../support/channels.ts";
import { checkReport } from "../support/check-report.ts";
import { signedIn } from "../support/client.ts";
import { DebianAppliance, hourMs, minuteMs, securityUpdate } from "../support/debian-appliance.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { whileAway } from "../support/storage-faults.ts";
import { db } from "../support/testdrives.ts";

const passed: CheckResult = { outcome: "passed", seen: "It came.", seconds: 12 };
const failed: CheckResult = { outcome: "failed", seen: "", seconds: 12 };

let debian: DebianAppliance;
beforeEach(async () => {
  debian = await DebianAppliance.create();
});

const follow = (automatic_builds: string, more: object = {}) =>
  debian.configure({ settings: { automatic_builds }, ...more });

/** Publishes the first version, and gives it to an automatic channel. */
async function release(): Promise<void> {
  const buildId = await debian.build();
  await check(buildId, passed);
  expect((await publish(debian.tux, debian.id, "0.0.1")).status).toBe(200);
  await debian.tux.put(`/appliances/${debian.id}/channels/stable?automatic=true`, "");
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

const head = async () => (await channelsAt(debian.tux, `/appliances/${debian.id}/channels`))[0]?.version;

it.each([
  ["security", ["Debian Test, security"]],
  ["all", ["Debian Test", "Debian Test, security"]],
  ["never", []],
])("checks the mirrors of an appliance that follows %s every five minutes: %j", async (follows, names) => {
  await follow(follows);
  await debian.build();
  const asked = async (ms: number) => {
    await debian.look(ms);
    const turns = env.DB.prepare("SELECT name FROM import_turns JOIN repositories ON id = repository_id ORDER BY name");
    return (await turns.all<{ name: string }>()).results.map(({ name }) => name);
  };

  expect(await asked(0)).toEqual([]);
  expect(await asked(5 * minuteMs)).toEqual(names);
  const { lookAt } = (await debian.watch()) ?? {};
  const isSoon = (lookAt?.getTime() ?? 0) < Date.now() + 7 * minuteMs;
  expect(isSoon, "the next look is when the import has ended").toBe(names.length > 0);
});

it("gets a security update into the channel, after its checks have passed", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await debian.look();
  expect(await debian.automaticBuilds()).toEqual([]);

  await debian.mirror.publish({ security: securityUpdate });
  await Promise.all([debian.look(), debian.look()]);
  await debian.look();
  const id = await debian.automaticBuild();
  await debian.finish(id);
  await debian.look();
  expect([await head(), (await debian.watch())?.automaticState]).toEqual(["0.0.1", "building"]);
  await check(id, passed);
  await debian.look();
  await debian.look();

  expect(await head()).toBe("0.0.2");
  expect(await debian.watch()).toMatchObject({
    automaticState: "done",
    automaticFrom: "0.0.1",
    automaticVersion: "0.0.2",
    automaticMessage: "Built again with base-files 12.4+deb12u13. It is in stable.",
  });
  await debian.look(hourMs);
  expect(await debian.automaticBuilds()).toHaveLength(1);
});

it("never moves a channel if the checks fail", async () => {
  await follow("security", { checks: [{ kind: "login" }] });
  await release();
  await debian.mirror.publish({ security: securityUpdate });
  await debian.look();
  const id = await debian.automaticBuild();
  await debian.finish(id);
  await check(id, failed);
  await debian.look();
  expect(await debian.watch()).toMatchObject({ automaticState: "failed" });
  expect((await debian.watch())?.automaticMessage).toMatch(
    /^Version 0\.0\.2 \(oem\) is not released, because a check failed: /,
  );
  expect([await head(), await listPublishedVersions(db, debian.id)]).toEqual(["0.0.1", ["0.0.1"]]);
});

it("tries a failed build again when an index changes, and not before", async () => {
  await follow("security");
  await release();
  await debian.mirror.publish({ security: securityUpdate });
  await debian.look();
  const attempt = await (await fakeAgent()).claimsBuild(await debian.automaticBuild());
  await attempt.call("fail", { kind: "failed", reason: "A script ended with 1." });
  await debian.look();
  expect(await debian.watch()).toMatchObject({
    automaticState: "failed",
    automaticMessage: "The build of oem ended: A script ended with 1.",
  });

  await debian.look(2 * hourMs);
  expect(await debian.automaticBuilds()).toHaveLength(1);
  await debian.mirror.publish({ security: ["base-files 12.4+deb12u14"] });
  await debian.look();
  expect(await debian.automaticBuilds()).toHaveLength(1);
  await debian.look(2 * hourMs);
  expect(await debian.automaticBuilds()).toMatchObject([{ status: "failed" }, { status: "queued", version: "0.0.2" }]);
  expect(await head()).toBe("0.0.1");
});

const buildsAfter = async (follows: string, published: { main?: string[]; security?: string[] }) => {
  if (follows !== "") await follow(follows);
  await debian.build();
  await debian.mirror.publish(published);
  await debian.look();
  return (await debian.automaticBuilds()).length;
};

describe("an appliance", () => {
  it("is not built again by default", async () => expect(await buildsAfter("", { security: securityUpdate })).toBe(0));
  it("that follows security updates is not built again for others", async () =>
    expect(await buildsAfter("security", { main: securityUpdate })).toBe(0));
  it("can follow all updates", async () => expect(await buildsAfter("all", { main: securityUpdate })).toBe(1));

  it("that was changed since its last image is left to its owner", async () => {
    await follow("security");
    await debian.build();
    await debian.tux.post(`/appliances/${debian.id}/cmd/add_package`, { name: "apache2" });
    await debian.mirror.publish({ security: securityUpdate });
    await debian.look();

    expect(await debian.automaticBuilds()).toEqual([]);
    expect(await debian.watch()).toMatchObject({ automaticState: "refused" });
    expect((await debian.watch())?.automaticMessage).toContain("was changed after version 0.0.1 was built");
  });

  it("that has only begun to follow updates is not a changed one", async () => {
    await debian.build();
    await follow("security");
    await debian.mirror.publish({ security: securityUpdate });
    await debian.look();
    expect(await debian.automaticBuilds()).toHaveLength(1);
  });

  it("that cannot be built is not built again, and the reason is kept", async () => {
    await follow("security");
    await debian.build();
    await debian.tux.post(`/appliances/${debian.id}/cmd/ban_package`, { name: "base-files" });
    await debian.mirror.publish({ security: securityUpdate });
    await debian.look();
    expect(await debian.automaticBuilds()).toEqual([]);
    expect(await debian.watch()).toMatchObject({
      automaticState: "refused",
      automaticMessage: expect.stringMatching(/./),
    });
  });
});

it("waits behind the builds of people", async () => {
  await follow("security");
  await debian.build();
  await debian.mirror.publish({ security: securityUpdate });
  await debian.look();
  const id = await debian.automaticBuild();
  const other = await signedIn();
  const own = await startBuild(other, await createAppliance(other, { clone_from: 900 }));

  const queued = (await listQueued(db, { limit: 1000 })).map(({ build }) => build.id);
  expect(queued.indexOf(own)).toBeLessThan(queued.indexOf(id));
});

it("starts and publishes once if any storage call fails", async () => {
  await follow("security");
  await release();
  await debian.mirror.publish({ security: securityUpdate });
  await lookWithEachFailure();
  await debian.look();
  const id = await debian.automaticBuild();
  await debian.finish(id);
  await lookWithEachFailure();
  await debian.look();

  await debian.automaticBuild();
  expect(await head()).toBe("0.0.2");
  expect((await listPublishedVersions(db, debian.id)).toSorted()).toEqual(["0.0.1", "0.0.2"]);
  expect(await debian.watch()).toMatchObject({ automaticState: "done" });
});

/** Checks repeatedly. Each time, a different storage call fails. */
async function lookWithEachFailure(): Promise<void> {
  for (let nth = 0, calls = 1; nth < calls; nth += 1) {
    calls = 0;
    await whileAway(
      () => (calls += 1) === nth + 1,
      () => debian.look().catch(() => {}),
    );
  }
}
