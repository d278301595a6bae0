import { contentKey } from "#storage/blobs";
import type { OverlayFile } from "#storage/overlay-files";
import { answerBlob } from "./blob.ts";

/** Answers with the content of an overlay file. */
export const answerOverlayFile = (
  blobs: R2Bucket,
  request: Request,
  { blobId, size, sha256, fileName }: OverlayFile,
): Promise<Response> =>
  answerBlob(request, {
    size,
    etag: `"${sha256}"`,
    contentType: "application/octet-stream",
    fileName,
    read: (range) => blobs.get(contentKey(blobId), { range }),
  });
