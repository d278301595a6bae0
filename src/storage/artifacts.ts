import { Buffer } from "node:buffer";

/** A multipart upload that R2 keeps open. */
export interface UploadAddress {
  key: string;
  uploadId: string;
}

/** Starts an upload in R2. */
export async function openUpload(blobs: R2Bucket, key: string): Promise<UploadAddress> {
  const { uploadId } = await blobs.createMultipartUpload(key, {
    httpMetadata: { contentType: "application/octet-stream" },
  });
  return { key, uploadId };
}

/** Streams one part in and hashes it on the way; nothing of it stays in memory. */
export async function putPart(
  blobs: R2Bucket,
  { key, uploadId }: UploadAddress,
  part: { number: number; size: number; body: ReadableStream<Uint8Array> },
): Promise<{ etag: string; sha256: string }> {
  const hash = hashing();
  const fixed = new FixedLengthStream(part.size);
  const [{ etag }] = await Promise.all([
    blobs.resumeMultipartUpload(key, uploadId).uploadPart(part.number, fixed.readable),
    part.body.pipeThrough(hash.through).pipeTo(fixed.writable),
  ]);
  return { etag, sha256: await hash.result() };
}

/** Joins the parts. Each attempt has a key of its own, so an object that is there already is this one, joined before. */
export async function completeUpload(
  blobs: R2Bucket,
  { key, uploadId }: UploadAddress,
  parts: readonly { number: number; etag: string; size: number }[],
): Promise<void> {
  if (await blobs.head(key)) return;
  const listed = parts.map(({ number, etag }) => ({ partNumber: number, etag }));
  const { size } = await blobs.resumeMultipartUpload(key, uploadId).complete(listed);
  const expected = parts.reduce((sum, part) => sum + part.size, 0);
  if (size !== expected) throw new Error(`${key} has ${size} bytes in R2, its parts had ${expected}`);
}

/** Forgets an upload and what it made; one that is gone is gone. */
export async function abortUpload(blobs: R2Bucket, { key, uploadId }: UploadAddress): Promise<void> {
  await blobs
    .resumeMultipartUpload(key, uploadId)
    .abort()
    .catch((error: unknown) => {
      // 10024: R2's "The specified multipart upload does not exist."
      if (!/10024|does not exist/.test(String(error))) throw error;
    });
  await blobs.delete(key);
}

/** SHA-256 over the parts' hex digests, joined by newlines (contract/upload.ts). */
export async function digestOfParts(parts: readonly { sha256: string }[]): Promise<string> {
  const text = parts.map(({ sha256 }) => sha256).join("\n");
  return hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function hashing() {
  const digest = new crypto.DigestStream("SHA-256");
  const writer = digest.getWriter();
  // Asked for only when the part has arrived whole; until then its failure is the pipe's to report.
  digest.digest.catch(() => {});
  const through = new TransformStream<Uint8Array, Uint8Array>({
    async transform(bytes, controller) {
      await writer.write(bytes);
      controller.enqueue(bytes);
    },
    flush: () => writer.close(),
  });
  return { through, result: async () => hex(await digest.digest) };
}

const hex = (bytes: ArrayBuffer) => Buffer.from(bytes).toString("hex");
