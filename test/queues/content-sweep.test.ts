import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { contentKey, thumbnailKey } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { freezeBlobs } from "#storage/frozen-blobs";
import { findAnyOverlayFile } from "#storage/overlay-files";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fileForm, send, uploadFile } from "../support/files.ts";
import { sweepIn } from "../support/sweep.ts";

const hourMs = 60 * 60_000;

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

const blobOf = async (id: string) =>
  (await findAnyOverlayFile(openDatabase(env), Number(id)))?.blobId ?? expect.fail(`there is no file ${id}`);
const isThere = async (blobId: string) => (await env.BLOBS.head(contentKey(blobId))) !== null;
const releasedRows = () => env.DB.prepare("SELECT count(*) AS rows FROM released_blobs").first<number>("rows");

it("deletes a deleted file's content after an hour", async () => {
  const { id } = await uploadFile(tux, applianceId, "hello");
  const blobId = await blobOf(id);
  await tux.delete(`/files/${id}`);

  await sweepIn(hourMs / 2);
  expect(await isThere(blobId)).toBe(true);
  await sweepIn(2 * hourMs);

  expect(await isThere(blobId)).toBe(false);
  expect(await releasedRows()).toBe(0);
});

it("deletes replaced content and keeps the new one", async () => {
  const { id } = await uploadFile(tux, applianceId, "hello");
  const old = await blobOf(id);
  await send(tux, fileForm("goodbye"), { method: "PUT", path: `/files/${id}/data` });

  await sweepIn(2 * hourMs);

  expect(await isThere(old)).toBe(false);
  expect(await (await tux.get(`/files/${id}/data`)).text()).toBe("goodbye");
});

it("keeps content that a clone uses until the clone is deleted", async () => {
  const { id } = await uploadFile(tux, applianceId, "hello");
  const blobId = await blobOf(id);
  const clone = await createAppliance(tux, { clone_from: applianceId });
  await tux.delete(`/appliances/${applianceId}`);
  await sweepIn(2 * hourMs);
  expect(await isThere(blobId)).toBe(true);

  await tux.delete(`/appliances/${clone}`);
  await sweepIn(2 * hourMs);

  expect(await isThere(blobId)).toBe(false);
});

it("keeps a build's input content until an hour after its end", async () => {
  const { id } = await uploadFile(tux, applianceId, "hello");
  const blobId = await blobOf(id);
  const buildId = await startBuild(tux, applianceId);
  await freezeBlobs(openDatabase(env), buildId, [blobId]);
  await tux.delete(`/files/${id}`);
  await sweepIn(2 * hourMs);
  expect(await isThere(blobId)).toBe(true);

  await tux.delete(`/running_builds/${buildId}`);
  await sweepIn(2 * hourMs);
  expect(await isThere(blobId)).toBe(true);
  await sweepIn(4 * hourMs);

  expect(await isThere(blobId)).toBe(false);
});

it.each(["logo_blob", "background_blob"])("keeps a picture that an appliance uses as %s", async (column) => {
  const blobId = crypto.randomUUID();
  await env.BLOBS.put(contentKey(blobId), "a picture");
  await env.BLOBS.put(thumbnailKey(blobId), "a small one");
  await env.DB.prepare(`UPDATE appliances SET ${column} = ? WHERE id = ?`).bind(blobId, applianceId).run();
  await sweepIn(2 * hourMs);
  expect(await isThere(blobId)).toBe(true);

  await tux.delete(`/appliances/${applianceId}`);
  await sweepIn(2 * hourMs);

  expect(await isThere(blobId)).toBe(false);
  expect(await env.BLOBS.head(thumbnailKey(blobId))).toBeNull();
});

it("deletes content without a row after an hour", async () => {
  const stray = crypto.randomUUID();
  await env.BLOBS.put(contentKey(stray), "a crash came in between");

  await sweepIn(hourMs / 2);
  expect(await isThere(stray)).toBe(true);
  await sweepIn(2 * hourMs);

  expect(await isThere(stray)).toBe(false);
});

it("keeps content for an hour after its release, whatever its age", async () => {
  const blobId = crypto.randomUUID();
  await env.BLOBS.put(contentKey(blobId), "let go an hour and a half from now");
  await env.DB.prepare("INSERT INTO released_blobs VALUES (?, ?)")
    .bind(blobId, Date.now() + 1.5 * hourMs)
    .run();

  await sweepIn(2 * hourMs);
  expect(await isThere(blobId)).toBe(true);
  await sweepIn(3 * hourMs);

  expect(await isThere(blobId)).toBe(false);
});
