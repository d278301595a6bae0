import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { forgetTestdrives } from "#domain/testdrives/retention";
import { buildPrefix } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { addTestdrive, findTestdrive } from "#storage/testdrives";
import { expectQueued } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { sweepIn } from "../support/sweep.ts";
import { endedTestdrive } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

const dayMs = 24 * 60 * 60_000;
const db = openDatabase(env);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

/** Runs the sweep as if this many days had passed, in a service that keeps images for `keep` days. */
const sweepAfter = (days: number, keep = "30") => sweepIn(days * dayMs, { KEEP_IMAGES_DAYS: keep });

const build = () => createBuild(tux, bytesOf("an image"), { store: fileStoreOf({ "/a": "a" }) });

const keysOf = async (uid: string) => {
  const { objects } = await env.BLOBS.list({ prefix: buildPrefix(uid) });
  return objects.map(({ key }) => key.slice(buildPrefix(uid).length)).filter((key) => !lateOnes.includes(key));
};
/** Files that the build's object, or the watch of images, adds later. */
const lateOnes = ["log.txt", "attestations.json", "updates.json"];
const everything = ["files-1", "files-index-1", "image-1", "installed.json"];

const seen = async (buildId: number) => (await readXml(await tux.get(`/builds/${buildId}`))).build;

const isKnown = async (testdriveId: number) => (await findTestdrive(db, testdriveId)) !== undefined;

describe("ended testdrives", () => {
  it("are forgotten after 30 days, and live ones are not", async () => {
    const { buildId } = await build();
    const ended = await endedTestdrive(tux, buildId);
    const row = { accountId: tux.accountId, buildId, pageToken: crypto.randomUUID(), wakeAt: new Date() };
    const live = await addTestdrive(db, row, { all: 1e6, perAccount: 1e6 });
    const forget = (days: number) => forgetTestdrives({ db }, Date.now() + days * dayMs);

    await forget(29);
    expect(await isKnown(ended)).toBe(true);

    await forget(31);
    expect(await isKnown(ended)).toBe(false);
    expect(await isKnown(live?.id ?? 0)).toBe(true);
  });

  it("are forgotten by the sweep, however many there are", async () => {
    const { buildId } = await build();
    const ids: number[] = [];
    for (let nth = 0; nth < 120; nth += 1) ids.push(await endedTestdrive(tux, buildId));

    await sweepAfter(31);

    expect(await Promise.all(ids.map(isKnown))).toEqual(ids.map(() => false));
  });
});

describe("image retention", () => {
  it.each([
    ["30 days by default", 29, "30"],
    ["forever with 0", 4000, "0"],
    ["forever with an empty value", 4000, ""],
    ["forever with an invalid value", 4000, "some"],
  ])("keeps images %s", async (_what, days, keep) => {
    const { buildId, uid } = await build();

    await sweepAfter(days, keep);

    expect((await findAnyBuild(db, buildId))?.expiredAt).toBeNull();
    expect(await keysOf(uid)).toEqual(everything);
  });

  it("deletes the image and file store, and keeps log and packages", async () => {
    const { applianceId, buildId, uid } = await build();

    await sweepAfter(31);

    expect(await keysOf(uid)).toEqual(["installed.json"]);
    expect(await seen(buildId)).toMatchObject({ state: "finished", expired: "true", size: "600" });
    const installed = await tux.get(`/appliances/${applianceId}/software/installed?build_id=${buildId}`);
    expect(await installed.text()).toContain("busybox");
    const { appliance } = await readXml(await tux.get(`/appliances/${applianceId}`));
    expect(appliance.builds.build).toBeUndefined();
  });

  it("answers requests for a deleted image with a clear error", async () => {
    const { applianceId, buildId } = await build();
    const { download_url: address } = await seen(buildId);

    await sweepAfter(31);

    const message = await expectError(await visit(new URL(address).pathname), 410, "build_not_found");
    expect(message).toContain("age");
    const imageFile = `/appliances/${applianceId}/image_files?build_id=${buildId}&path=/a`;
    await expectError(await tux.get(imageFile), 400, "raw_image_unavailable");
    await expectError(await tux.post("/testdrives", { build_id: buildId }), 400, "build_not_found");
    await expectError(await tux.get(`/appliances/${applianceId}/software/manifest/oem`), 400, "build_not_found");
  });

  it("allows an expired version to be built again without force", async () => {
    const { applianceId, buildId: old, agent } = await build();
    await sweepAfter(31);

    const again = await startBuild(tux, applianceId, { version: "0.0.1" });
    expect((await seen(old)).expired).toBe("true");
    await agent.buildsSuccessfully(again);

    expect((await seen(again)).expired).toBe("false");
    await expectError(await tux.get(`/builds/${old}`), 404, "invalid_build_id");
    const refused = await tux.post("/running_builds", { appliance_id: applianceId, version: "0.0.1" });
    await expectError(refused, 400, "image_already_exists");
  });

  it("frees the account's disk space", async () => {
    const { buildId } = await build();
    await env.DB.prepare("UPDATE builds SET file_size = ? WHERE id = ?")
      .bind(10 * 1024 ** 3, buildId)
      .run();
    expect((await readXml(await tux.get("/account"))).account.disk_quota.used).toBe("50%");

    await sweepAfter(31);

    expect((await findAnyBuild(db, buildId))?.fileSize).toBe(10 * 1024 ** 3);
    expect((await readXml(await tux.get("/account"))).account.disk_quota.used).toBe("0%");
  });

  it("keeps an image while a testdrive uses it", async () => {
    const { buildId } = await build();
    const testdrive = env.DB.prepare(
      "INSERT INTO testdrives (uid, account_id, build_id, state, page_token, created_at, wake_at) VALUES (hex(randomblob(16)), ?, ?, 'running', ?, 0, ?)",
    );
    await testdrive.bind(tux.accountId, buildId, crypto.randomUUID(), Date.now() + 40 * dayMs).run();
    await sweepAfter(31);
    expect((await seen(buildId)).expired).toBe("false");

    await env.DB.prepare("UPDATE testdrives SET state = 'ended' WHERE build_id = ?").bind(buildId).run();
    await sweepAfter(31);
    expect((await seen(buildId)).expired).toBe("true");
  });

  it("deletes in later runs what a crash left behind", async () => {
    await sweepAfter(31); // a run ends at its first crash, so this first deletes the builds of other tests
    const { buildId, uid } = await build();
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    const stuck = vi.spyOn(env.BLOBS, "delete").mockRejectedValue(new Error("R2 is away"));
    await sweepAfter(31);
    stuck.mockRestore();
    complaint.mockRestore();
    expect([(await seen(buildId)).expired, await keysOf(uid)]).toEqual(["true", everything]);

    await sweepAfter(31);

    expect(await keysOf(uid)).toEqual(["installed.json"]);
  });
});

describe("builds without an image", () => {
  it("are forgotten after 90 days, with everything that is stored for them", async () => {
    const { applianceId, buildId, uid, agent } = await build();
    const failed = await startBuild(tux, applianceId);
    const attempt = await agent.claimsBuild(failed);
    await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
    const waiting = await startBuild(tux, applianceId);
    await sweepAfter(31); // the image expires at that time
    const ids = async () => {
      const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));
      return [builds.build ?? []].flat().map(({ id }: { id: string }) => Number(id));
    };

    await sweepAfter(89);
    expect(await ids()).toEqual([failed, buildId]);

    await sweepAfter(91);
    expect(await ids()).toEqual([buildId]);
    expect((await env.BLOBS.list({ prefix: buildPrefix(attempt.uid) })).objects).toEqual([]);

    await sweepAfter(31 + 91);
    expect(await ids()).toEqual([]);
    expect((await env.BLOBS.list({ prefix: buildPrefix(uid) })).objects).toEqual([]);
    await expectQueued(waiting, applianceId);
  });

  it("are not those whose image is kept", async () => {
    const { buildId } = await build();
    await sweepAfter(4000, "0");
    expect(await seen(buildId)).toMatchObject({ state: "finished", expired: "false" });
  });
});

describe("many images that must be kept", () => {
  it("do not keep others from expiring", async () => {
    const { applianceId, buildId } = await publishedAppliance(tux);
    const copy = { uid: unique("uid"), download_token: unique("download_token"), image_type: "'type' || i" };
    await copyRow("builds", { id: buildId, times: 600, changes: copy });
    const { buildId: other } = await build();

    for (let run = 0; run < 3; run += 1) await sweepAfter(31);

    expect(await seen(other)).toMatchObject({ expired: "true" });
    expect(await seen(buildId)).toMatchObject({ expired: "false" });
    await env.DB.prepare("DELETE FROM builds WHERE appliance_id = ?").bind(applianceId).run();
  });
});

const gigabytes = (count: number, buildId: number) =>
  env.DB.prepare("UPDATE builds SET files_size = ? WHERE id = ?")
    .bind(count * 1024 ** 3, buildId)
    .run();

describe("a full account", () => {
  it("counts file stores, and starts no further build", async () => {
    const { applianceId, buildId } = await build();
    await gigabytes(20, buildId);

    const answer = await tux.post("/running_builds", { appliance_id: applianceId });

    expect(await expectError(answer, 400, "unknown_error")).toContain("quota");
    const { running_builds: running } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));
    expect(running.running_build).toBeUndefined();
    await gigabytes(19, buildId);
    await expectQueued(await startBuild(tux, applianceId), applianceId);
  });
});
