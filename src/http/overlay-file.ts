import { contentKey } from "#storage/blobs";
import type { OverlayFile } from "#storage/overlay-files";
import { answerBlob, type ReadRange } from "./blob.ts";

export const answerOverlayFile = (
  open: (key: string) => ReadRange,
  request: Request,
  { blobId, size, sha256, fileName }: OverlayFile,
): Promise<Response> =>
  answerBlob(request, {
    size,
    etag: `"${sha256}"`,
    contentType: "application/octet-stream",
    fileName,
    read: open(contentKey(blobId)),
  });
