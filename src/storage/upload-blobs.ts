import { uploadPrefix } from "./blobs.ts";

/** Removes everything of an upload. */
export async function removeUploadBlobs(blobs: R2Bucket, blobId: string): Promise<void> {
  // Each page is deleted before the next is listed, so no cursor is needed.
  for (;;) {
    const { objects, truncated } = await blobs.list({ prefix: uploadPrefix(blobId) });
    if (objects.length > 0) await blobs.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
