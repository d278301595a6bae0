import { z } from "zod";
import { abortMultipart } from "./artifacts.ts";
import { begunUploadKey } from "./blobs.ts";
import { logFailure } from "#log/log";

/** The operations of a multipart upload that a writer needs. */
export type BegunUpload = Pick<R2MultipartUpload, "uploadPart" | "complete" | "abort">;

const Note = z.object({ key: z.string(), uploadId: z.string() });

/**
 * Begins a multipart upload, and keeps a note of it until it ends, because R2 stores the parts of unfinished uploads
 * but does not list them. A crash before the note is written leaves an upload without parts.
 */
export async function beginUpload(blobs: R2Bucket, key: string): Promise<BegunUpload> {
  const upload = await blobs.createMultipartUpload(key);
  const noteKey = begunUploadKey(crypto.randomUUID());
  await blobs.put(noteKey, JSON.stringify({ key, uploadId: upload.uploadId } satisfies z.infer<typeof Note>));
  // If the note cannot be deleted, the sweep deletes it later. The upload itself has ended.
  const over = () =>
    blobs
      .delete(noteKey)
      .catch((error: unknown) => logFailure("could not delete the note of an upload", error, { key }));
  return {
    uploadPart: (number, bytes) => upload.uploadPart(number, bytes),
    async complete(parts) {
      const object = await upload.complete(parts);
      await over();
      return object;
    },
    async abort() {
      await upload.abort();
      await over();
    },
  };
}

/** Aborts the upload that a note names. If the upload was completed, its object stays. */
export async function abortNoted(blobs: R2Bucket, noteKey: string): Promise<void> {
  const note = await blobs.get(noteKey);
  if (note) await abortMultipart(blobs, Note.parse(await note.json()));
  await blobs.delete(noteKey);
}
