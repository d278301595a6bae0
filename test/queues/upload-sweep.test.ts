import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { removeExpiredUploads, removeStrayTails } from "#domain/uploads/sweep";
import { removeStrayContents } from "#domain/contents/content-sweep";
import { contentKey, tailKey } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { sweepIn } from "../support/sweep.ts";
import {
  begun,
  blobIdOf,
  expectRefused,
  mebibyte,
  openBody,
  someBytes,
  tailsOf,
  tusClient,
  type TusClient,
} from "../support/uploads.ts";

const db = openDatabase(env);
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const expireIn = (ms: number) => removeExpiredUploads({ env, db }, Date.now() + ms);

beforeAll(loadTemplates);

let tux: Client;
let tus: TusClient;
let query: Record<string, string | number>;
beforeEach(async () => {
  tux = await signedIn();
  tus = tusClient(tux);
  query = { appliance_id: await createAppliance(tux), filename: "a" };
});

const multipartOf = async (id: string) => {
  const asked = env.DB.prepare("SELECT multipart_id FROM resumable_uploads WHERE id = ?").bind(id);
  const uploadId = (await asked.first<string>("multipart_id")) ?? "";
  return env.BLOBS.resumeMultipartUpload(contentKey(await blobIdOf(id)), uploadId);
};

describe("an unfinished upload", () => {
  it("is removed a day after its last bytes, with its parts", async () => {
    const id = await begun(tus, query, 20 * mebibyte);
    await tus.send(id, 0, someBytes(9 * mebibyte));
    const [blobId, multipart] = [await blobIdOf(id), await multipartOf(id)];

    await expireIn(dayMs - minuteMs);
    expect((await tus.send(id, 9 * mebibyte, "more")).status).toBe(204);
    expect(await tailsOf(blobId)).toHaveLength(1);
    await expireIn(dayMs + minuteMs);

    expect((await tus.head(id)).status).toBe(404);
    expect(await tailsOf(blobId)).toEqual([]);
    await expect(multipart.uploadPart(2, someBytes(10))).rejects.toThrow(/does not exist/);
    const parts = env.DB.prepare("SELECT * FROM resumable_upload_parts WHERE upload_id = ?").bind(id);
    expect((await parts.all()).results).toEqual([]);
  });

  it("stays while a request writes it", async () => {
    const id = await begun(tus, query, 100_000);
    const open = openBody(someBytes(70_000));
    const sent = tus.send(id, 0, open.body);
    await open.written;
    await expectRefused(await tus.send(id, 0, "other"), 423);
    await env.DB.prepare("UPDATE resumable_uploads SET expires_at = ? WHERE id = ?")
      .bind(Date.now() - 1000, id)
      .run();

    await expireIn(0);
    await open.end();

    expect((await sent).status).toBe(204);
    expect((await tus.head(id)).status).toBe(200);
  });
});

it("keeps the file of a finished upload when it forgets the upload", async () => {
  const id = await begun(tus, query, 9 * mebibyte);
  await tus.send(id, 0, someBytes(9 * mebibyte));
  const { file_id: fileId } = await tus.show(id);

  await expireIn(dayMs + minuteMs);
  await removeStrayContents({ env, db }, Date.now() + dayMs);

  expect((await tus.head(id)).status).toBe(404);
  expect((await tux.get(`/files/${fileId}/data`)).headers.get("content-length")).toBe(String(9 * mebibyte));
});

it("keeps what an upload has stored, and removes what none has any more", async () => {
  const id = await begun(tus, query, 5);
  await tus.send(id, 0, "he");
  const stray = tailKey(crypto.randomUUID(), 2);
  await env.BLOBS.put(stray, "he");

  await removeStrayTails({ env, db }, Date.now() + minuteMs);
  expect(await env.BLOBS.head(stray)).not.toBeNull();
  await removeStrayTails({ env, db }, Date.now() + 2 * 60 * minuteMs);

  expect(await env.BLOBS.head(stray)).toBeNull();
  expect((await tus.send(id, 2, "llo")).status).toBe(204);
});

it("goes with its account", async () => {
  const id = await begun(tus, query, 20 * mebibyte);
  await tus.send(id, 0, someBytes(9 * mebibyte));
  const [blobId, multipart] = [await blobIdOf(id), await multipartOf(id)];

  await operate("DELETE", `/accounts/${tux.username}`);
  await sweepIn(0);

  const left = env.DB.prepare("SELECT id FROM resumable_uploads WHERE account_id = ?").bind(tux.accountId);
  expect((await left.all()).results).toEqual([]);
  expect(await tailsOf(blobId)).toEqual([]);
  await expect(multipart.uploadPart(2, someBytes(10))).rejects.toThrow(/does not exist/);
});

it("is gone if a restored database brings back one whose parts were removed", async () => {
  const id = await begun(tus, query, 20 * mebibyte);
  await tus.send(id, 0, someBytes(9 * mebibyte));
  await (await multipartOf(id)).abort();

  await expectRefused(await tus.send(id, 9 * mebibyte, someBytes(11 * mebibyte)), 404);

  expect((await tus.head(id)).status).toBe(404);
});
