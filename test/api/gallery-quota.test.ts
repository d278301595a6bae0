import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { usedBytes } from "#storage/accounts";
import { openDatabase } from "#storage/db";
import { pngOf, rowOf } from "../picture/png-maker.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { galleryPath, publish } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError } from "../support/xml.ts";

const red = pngOf(64, 32, { row: rowOf(64, [255, 0, 0, 255]) });
const green = pngOf(64, 32, { row: rowOf(64, [0, 255, 0, 255]) });

/** Larger than the other pictures, even as a thumbnail. */
const striped = pngOf(64, 32, {
  row: Array.from({ length: 64 * 4 }, (_, x) => (x % 4 === 3 ? 255 : (x * x * 37) % 256)),
});

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const used = (client = tux) => usedBytes(openDatabase(env), client.accountId);

const setPicture = (applianceId: number, kind: string, png: Uint8Array, settings: object = {}) => {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const url = `https://kiln.test/api/v2/user/appliances/${applianceId}/configuration/${kind}`;
  const request = new Request(url, { method: "PUT", body: png.slice(), headers: { authorization } });
  return app.fetch(request, { ...env, ...settings });
};

/** The sizes of pictures that belong to no appliance. */
const strayRows = () =>
  env.DB.prepare(
    "SELECT count(*) AS rows FROM picture_sizes WHERE blob_id NOT IN (SELECT logo_blob FROM appliances WHERE logo_blob IS NOT NULL UNION SELECT background_blob FROM appliances WHERE background_blob IS NOT NULL)",
  ).first<number>("rows");

const settings = (bytes: number) => ({ ACCOUNT_QUOTA_GB: String(bytes / 2 ** 30) });

describe("a publisher's quota", () => {
  it("counts published files that the appliance has deleted, until unpublishing", async () => {
    const { applianceId } = await createBuild(tux);
    const before = await used();
    const { id } = await uploadFile(tux, applianceId, "x".repeat(5000));
    await publish(tux, applianceId);
    expect(await used()).toBe(before + 5000);

    await tux.delete(`/files/${id}`);
    expect(await used()).toBe(before + 5000);

    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect(await used()).toBe(before);
  });

  it("counts a published picture that the appliance has replaced", async () => {
    const { applianceId } = await createBuild(tux);
    const before = await used();
    await setPicture(applianceId, "logo", red);
    await publish(tux, applianceId);
    await setPicture(applianceId, "logo", green);
    expect(await used()).toBe(before + red.byteLength + green.byteLength);

    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect(await used()).toBe(before + green.byteLength);
  });
});

describe("pictures", () => {
  it("count, a background with its thumbnail, once for all clones", async () => {
    const applianceId = await createAppliance(tux);
    await setPicture(applianceId, "logo", red);
    expect(await used()).toBe(red.byteLength);
    await createAppliance(tux, { clone_from: applianceId });
    expect(await used()).toBe(red.byteLength);

    await setPicture(applianceId, "background", green);
    expect(await used()).toBeGreaterThan(red.byteLength + green.byteLength);
  });

  it.each(["logo", "background"])("are refused if there is no room for a %s", async (kind) => {
    const applianceId = await createAppliance(tux);

    const answer = await setPicture(applianceId, kind, red, settings(red.byteLength - 1));

    expect(await expectError(answer, 400, "unknown_error")).toMatch(/quota/);
    expect(await used()).toBe(0);
  });

  it.each(["logo", "background"])("can replace a larger %s when the quota is used up", async (kind) => {
    const applianceId = await createAppliance(tux);
    expect((await setPicture(applianceId, kind, striped)).status).toBe(200);
    const full = await used();

    expect((await setPicture(applianceId, kind, red, settings(full))).status).toBe(200);

    const less = await used();
    expect(less).toBeLessThan(full);
    await expectError(await setPicture(applianceId, kind, striped, settings(full - 1)), 400, "unknown_error");
    expect(await used()).toBe(less);
  });

  it("stop counting with their appliance, and leave no row", async () => {
    const applianceId = await createAppliance(tux);
    await setPicture(applianceId, "logo", red);
    await tux.delete(`/appliances/${applianceId}`);
    expect(await used()).toBe(0);
    expect(await strayRows()).toBeGreaterThan(0);

    await sweepIn(2 * 60 * 60_000);

    expect(await strayRows()).toBe(0);
  });
});
