import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { abortLostUploads } from "#domain/sweep";
import { abortNoted, beginUpload } from "#storage/begun-uploads";
import { BlobWriter, putBlob } from "#storage/blob-writer";
import { begunUploadKey, begunUploadsPrefix } from "#storage/blobs";
import { openDatabase } from "#storage/db";

const db = openDatabase(env);
const dayMs = 24 * 60 * 60_000;
const minuteMs = 60_000;
const key = "contents/of-a-test";
/** More than the writer buffers, so that it begins a multipart upload. */
const large = new Uint8Array(9 * 2 ** 20);

const notes = async () => (await env.BLOBS.list({ prefix: begunUploadsPrefix })).objects.map(({ key }) => key);
const sweepIn = (ms: number) => abortLostUploads({ env, db }, Date.now() + ms);

afterEach(async () => {
  vi.restoreAllMocks();
  await env.BLOBS.delete([key, ...(await notes())]);
});

it("aborts an unfinished upload after a day, and not before", async () => {
  const upload = await beginUpload(env.BLOBS, key);
  await upload.uploadPart(1, large);

  await sweepIn(dayMs - minuteMs);
  await expect(upload.uploadPart(2, large)).resolves.toMatchObject({ partNumber: 2 });

  await sweepIn(dayMs + minuteMs);
  await expect(upload.uploadPart(3, large)).rejects.toThrow(/does not exist/);
  expect(await notes()).toEqual([]);
});

it("finds an upload that a writer began and abandoned", async () => {
  await new BlobWriter(env.BLOBS, key).write(large);
  expect(await notes()).toHaveLength(1);

  await sweepIn(dayMs + minuteMs);

  expect(await notes()).toEqual([]);
  expect(await env.BLOBS.head(key)).toBeNull();
});

it("has nothing to do after uploads that succeeded or failed", async () => {
  const source = () => new Response(large).body ?? new ReadableStream();
  await putBlob(env.BLOBS, key, source());
  const breaksOff = new TransformStream<Uint8Array, Uint8Array>({ flush: () => Promise.reject(new Error("cut off")) });
  await expect(putBlob(env.BLOBS, key, source().pipeThrough(breaksOff))).rejects.toThrow("cut off");

  expect(await notes()).toEqual([]);
  expect((await env.BLOBS.head(key))?.size).toBe(large.byteLength);
});

it("keeps a stored object whose note remains, also on a second run", async () => {
  const upload = await beginUpload(env.BLOBS, key);
  const [note = ""] = await notes();
  const text = (await (await env.BLOBS.get(note))?.text()) ?? "";
  await upload.complete([await upload.uploadPart(1, large)]);
  await env.BLOBS.put(note, text);

  await sweepIn(dayMs + minuteMs);
  await abortNoted(env.BLOBS, note);

  expect(await notes()).toEqual([]);
  expect((await env.BLOBS.head(key))?.size).toBe(large.byteLength);
});

it("continues after a note that it cannot read", async () => {
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  const unreadable = begunUploadKey("0");
  await env.BLOBS.put(unreadable, "{");
  await new BlobWriter(env.BLOBS, key).write(large);

  await sweepIn(dayMs + minuteMs);

  expect(await notes()).toEqual([unreadable]);
  expect(complaint).toHaveBeenCalledOnce();
});
