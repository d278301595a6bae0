import { abortMultipart, completeUpload, isGone, openUpload, type UploadAddress } from "./artifacts.ts";
import { chunksOf } from "./chunks.ts";
import { contentKey, tailKey, tailPrefix, uploadKey } from "./blobs.ts";
import { deleteBlobsBelow } from "./build-blobs.ts";
import { partBytes } from "./part-buffer.ts";
import type { ResumableUpload, StoredPart } from "./resumable-uploads.ts";
import { removeUploadBlobs } from "./upload-blobs.ts";

/* A resumable upload in R2: a multipart upload, and a separate object with the bytes after its last part. */

/** A blob is missing although a row needs it. A restored database can bring back an upload that was removed. */
class BlobGone extends Error {}

export const isBlobGone = (error: unknown): boolean => error instanceof BlobGone || isGone(error);

type Target = Pick<ResumableUpload, "applianceId" | "blobId">;

const keyOf = ({ applianceId, blobId }: Target): string =>
  applianceId === null ? uploadKey(blobId) : contentKey(blobId);

const addressOf = (upload: ResumableUpload): UploadAddress => ({ key: keyOf(upload), uploadId: upload.multipartId });

/** Opens a multipart upload, and returns R2's id of it. */
export const openBlob = async (blobs: R2Bucket, target: Target): Promise<string> =>
  (await openUpload(blobs, keyOf(target))).uploadId;

/** Closes an upload that `openBlob` has opened, if its row was not added. */
export const closeBlob = (blobs: R2Bucket, target: Target, multipartId: string): Promise<void> =>
  abortMultipart(blobs, { key: keyOf(target), uploadId: multipartId });

export async function putUploadPart(
  blobs: R2Bucket,
  upload: ResumableUpload,
  { number, bytes }: { number: number; bytes: Uint8Array<ArrayBuffer> },
): Promise<StoredPart> {
  const { key, uploadId } = addressOf(upload);
  const multipart = blobs.resumeMultipartUpload(key, uploadId);
  const { etag } = await inPieces(bytes, (body) => multipart.uploadPart(number, body));
  return { number, etag };
}

const pieceBytes = 256 * 1024;

/** Sends bytes in pieces. Otherwise the runtime would copy all of them and hold the copy until V8 collects garbage. */
async function inPieces<T>(bytes: Uint8Array, send: (body: ReadableStream) => Promise<T>): Promise<T> {
  const { readable, writable } = new FixedLengthStream(bytes.byteLength);
  const write = async () => {
    const writer = writable.getWriter();
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) await writer.write(bytes.subarray(at, at + pieceBytes));
    await writer.close();
  };
  const [sent] = await Promise.all([send(readable), write()]);
  return sent;
}

/** Adds the last bytes and joins all parts to an object, unless an earlier request has done so. */
export async function completeBlob(
  blobs: R2Bucket,
  upload: ResumableUpload,
  { parts, last }: { parts: readonly StoredPart[]; last: Uint8Array<ArrayBuffer> },
): Promise<void> {
  if (await blobs.head(keyOf(upload))) return;
  const lastPart = await putUploadPart(blobs, upload, { number: parts.length + 1, bytes: last });
  const all = [...parts.map((part) => ({ ...part, size: partBytes })), { ...lastPart, size: last.byteLength }];
  await completeUpload(blobs, addressOf(upload), all);
}

const rangeBytes = 16 * 2 ** 20;

/**
 * The bytes of a completed upload, read one range at a time. Reading 2 GiB as one stream makes workerd grow by 100 MiB.
 */
export async function* readBlob(blobs: R2Bucket, upload: ResumableUpload): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < upload.length; offset += rangeBytes) {
    const blob = await blobs.get(keyOf(upload), { range: { offset, length: rangeBytes } });
    if (!blob) throw new BlobGone(`the blob of upload ${upload.id} is gone`);
    yield* chunksOf(blob.body);
  }
}

/** Deletes the object of a completed upload, and the packages that were unpacked from it. */
export const deleteBlob = (blobs: R2Bucket, { applianceId, blobId }: Target): Promise<void> =>
  applianceId === null ? removeUploadBlobs(blobs, blobId) : blobs.delete(contentKey(blobId));

/** How many bytes of the upload are in no part yet. */
export const tailBytes = ({ offset }: Pick<ResumableUpload, "offset">): number => offset % partBytes;

/** The bytes after the last part. */
export async function* readTail(blobs: R2Bucket, upload: ResumableUpload): AsyncGenerator<Uint8Array> {
  if (tailBytes(upload) === 0) return;
  const tail = await blobs.get(tailKey(upload.blobId, upload.offset));
  if (!tail) throw new BlobGone(`the last bytes of upload ${upload.id} are gone`);
  yield* chunksOf(tail.body);
}

export async function putTail(
  blobs: R2Bucket,
  { blobId }: ResumableUpload,
  { end, bytes }: { end: number; bytes: Uint8Array },
): Promise<void> {
  await inPieces(bytes, (body) => blobs.put(tailKey(blobId, end), body));
}

export const deleteTail = (blobs: R2Bucket, { blobId, offset }: ResumableUpload): Promise<void> =>
  blobs.delete(tailKey(blobId, offset));

export const deleteTails = (blobs: R2Bucket, { blobId }: ResumableUpload): Promise<void> =>
  deleteBlobsBelow(blobs, tailPrefix(blobId));

/** Deletes the parts and the last bytes. An object that a row names stays; the sweep removes the others. */
export async function discardBlob(blobs: R2Bucket, upload: ResumableUpload): Promise<void> {
  await abortMultipart(blobs, addressOf(upload));
  await deleteTails(blobs, upload);
}
