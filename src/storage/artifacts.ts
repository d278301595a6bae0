import { Buffer } from "node:buffer";

/** An open multipart upload in R2. */
export interface UploadAddress {
  key: string;
  uploadId: string;
}

export async function openUpload(blobs: R2Bucket, key: string): Promise<UploadAddress> {
  const { uploadId } = await blobs.createMultipartUpload(key, {
    httpMetadata: { contentType: "application/octet-stream" },
  });
  return { key, uploadId };
}

/** Streams one part into R2 and hashes it on the way, without holding it in memory. */
export async function putPart(
  blobs: R2Bucket,
  { key, uploadId }: UploadAddress,
  part: { number: number; size: number; body: ReadableStream<Uint8Array> },
): Promise<{ etag: string; sha256: string }> {
  const fixed = new FixedLengthStream(part.size);
  const [{ etag }, sha256] = await Promise.all([
    blobs.resumeMultipartUpload(key, uploadId).uploadPart(part.number, fixed.readable),
    copyHashed(part.body, fixed.writable),
  ]);
  return { etag, sha256 };
}

/** Joins the parts. Each attempt has its own key, so if the object already exists, an earlier call has joined them. */
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

/** Aborts an upload and deletes its object. */
export async function abortUpload(blobs: R2Bucket, upload: UploadAddress): Promise<void> {
  await abortMultipart(blobs, upload);
  await blobs.delete(upload.key);
}

/** Deletes the parts of an upload; does nothing if it no longer exists or is complete. */
export async function abortMultipart(blobs: R2Bucket, { key, uploadId }: UploadAddress): Promise<void> {
  await blobs
    .resumeMultipartUpload(key, uploadId)
    .abort()
    .catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
}

/** Whether R2's error is "The specified multipart upload does not exist." */
export const isGone = (error: unknown): boolean => /10024|does not exist/.test(String(error));

/** The SHA-256 of the parts' hex digests, joined by newlines (contract/upload.ts). */
export async function digestOfParts(parts: readonly { sha256: string }[]): Promise<string> {
  const text = parts.map(({ sha256 }) => sha256).join("\n");
  return hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Copies a stream, and returns the SHA-256 of its bytes. */
async function copyHashed(from: ReadableStream<Uint8Array>, to: WritableStream<Uint8Array>): Promise<string> {
  const digest = new crypto.DigestStream("SHA-256");
  digest.digest.catch(() => {}); // if a part arrives incomplete, the reader of the digest fails
  const [hash, copy] = [digest.getWriter(), to.getWriter()];
  try {
    for await (const chunk of from) await Promise.all([hash.write(chunk), copy.write(chunk)]);
    await Promise.all([hash.close(), copy.close()]);
    return hex(await digest.digest);
  } catch (error) {
    await Promise.allSettled([hash.abort(error), copy.abort(error)]);
    throw error;
  }
}

const hex = (bytes: ArrayBuffer) => Buffer.from(bytes).toString("hex");
