import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { asc, eq, inArray } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { buildObject } from "#domain/builds/build";
import { buildPrefix } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import {
  applianceRepositories,
  appliances,
  builds,
  gpgKeys,
  overlayFiles,
  releasedBlobs,
  selections,
  shares,
} from "#storage/schema";
import { runAlarm } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const hourMs = 60 * 60_000;
/** Every table whose rows belong to an appliance. */
const owned = [selections, overlayFiles, gpgKeys, shares, applianceRepositories, builds];

let tux: Client;
beforeEach(async () => void (tux = await signedIn()));

/** Gives an appliance files, keys, pictures and a reader. Returns the blobs in its rows. */
async function addOneOfEverything(applianceId: number): Promise<string[]> {
  const createdAt = new Date();
  const [first = "", second = "", logo = "", background = ""] = Array.from({ length: 4 }, () => crypto.randomUUID());
  const file = { applianceId, path: "/etc", owner: "root", group: "root", permissions: 0o644, enabled: true };
  const content = { size: 1, md5: "m", sha256: "s", createdAt };
  await db.insert(overlayFiles).values([
    { ...file, ...content, fileName: "issue", blobId: first },
    { ...file, ...content, fileName: "motd", blobId: second },
    { ...file, ...content, fileName: "motd.again", blobId: second },
  ]);
  await db.insert(gpgKeys).values({ applianceId, name: "k", target: "rpm", fingerprint: "aa", key: "k", createdAt });
  await db.insert(shares).values({ applianceId, accountId: 1, createdAt });
  await db.update(appliances).set({ logoBlob: logo, backgroundBlob: background }).where(eq(appliances.id, applianceId));
  return [first, second, logo, background];
}

const released = (blobs: string[]) =>
  db.query.releasedBlobs.findMany({ where: inArray(releasedBlobs.blobId, blobs), orderBy: asc(releasedBlobs.blobId) });

describe("deleting an appliance", () => {
  it("deletes all its rows and releases their blobs", async () => {
    const { applianceId } = await createBuild(tux);
    const blobs = await addOneOfEverything(applianceId);
    const before = Date.now();

    expect((await tux.delete(`/appliances/${applianceId}`)).status).toBe(200);

    for (const table of owned)
      expect(await db.select().from(table).where(eq(table.applianceId, applianceId))).toEqual([]);
    const rows = await released(blobs);
    expect(rows.map(({ blobId }) => blobId)).toEqual(blobs.toSorted());
    for (const { releasedAt } of rows) expect(releasedAt.getTime()).toBeGreaterThanOrEqual(before);
  });

  it("releases a blob again that was released before", async () => {
    const applianceId = await createAppliance(tux);
    const [blobId = ""] = await addOneOfEverything(applianceId);
    await db.insert(releasedBlobs).values({ blobId, releasedAt: new Date(1000) });

    await tux.delete(`/appliances/${applianceId}`);

    expect((await released([blobId]))[0]?.releasedAt.getTime()).toBeGreaterThan(1000);
  });

  it("leaves other appliances unchanged", async () => {
    const [applianceId, other] = [await createAppliance(tux), await createAppliance(tux)];
    await addOneOfEverything(other);
    const rows = async () =>
      await Promise.all(owned.map((table) => db.select().from(table).where(eq(table.applianceId, other))));
    const before = await rows();

    await tux.delete(`/appliances/${applianceId}`);

    expect(await rows()).toEqual(before);
    expect((await tux.get(`/appliances/${other}`)).status).toBe(200);
  });

  it("cancels the build that an agent is running", async () => {
    const applianceId = await createAppliance(tux);
    const buildId = await startBuild(tux, applianceId);
    const attempt = await (await fakeAgent()).claimsBuild(buildId);

    await tux.delete(`/appliances/${applianceId}`);

    expect(await (await attempt.beats()).json()).toEqual({ cancel: true });
    expect((await attempt.finishes()).status).toBe(410);
    await expectError(await tux.get(`/running_builds/${buildId}`), 404, "invalid_running_build_id");
  });

  it("cancels a build that the first query did not find", async () => {
    const applianceId = await createAppliance(tux);
    const buildId = await startBuild(tux, applianceId);
    const attempt = await (await fakeAgent()).claimsBuild(buildId);
    // The first query skips rows like this one, as if they did not exist yet.
    await db.update(builds).set({ retiredAt: new Date() }).where(eq(builds.id, buildId));

    await tux.delete(`/appliances/${applianceId}`);

    expect(await (await attempt.beats()).json()).toEqual({ cancel: true });
  });

  it("leaves no build behind that starts at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const applianceId = await createAppliance(tux);

      await Promise.all([
        tux.post("/running_builds", { appliance_id: applianceId }),
        tux.delete(`/appliances/${applianceId}`),
      ]);

      expect(await db.select().from(builds).where(eq(builds.applianceId, applianceId))).toEqual([]);
    }
  });

  it("disables the images' URLs immediately; the sweep deletes their blobs and the states of their builds", async () => {
    const { applianceId, buildId, uid } = await createBuild(tux);
    await runAlarm(buildId); // which adds blobs
    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    const keys = async () => (await env.BLOBS.list({ prefix: buildPrefix(uid) })).objects.length;
    expect(await keys()).toBeGreaterThan(0);

    await tux.delete(`/appliances/${applianceId}`);

    expect((await visit(new URL(build.download_url).pathname)).status).toBe(404);
    const state = () => runInDurableObject(buildObject(env, { uid }), (_, { storage }) => storage.kv.get("state"));
    expect(await state()).toMatchObject({ status: "finished" });
    await sweepIn(2 * hourMs);
    expect(await keys()).toBe(0);
    expect(await state()).toBeUndefined();
  });
});
