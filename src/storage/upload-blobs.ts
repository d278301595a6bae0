import { uploadPrefix } from "./blobs.ts";
import { deleteBlobsBelow } from "./build-blobs.ts";

export const removeUploadBlobs = (blobs: R2Bucket, blobId: string): Promise<void> =>
  deleteBlobsBelow(blobs, uploadPrefix(blobId));
