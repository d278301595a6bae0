import type { SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { releasedBlobs } from "./schema.ts";

/**
 * Notes when rows released blobs, in the batch that changes those rows. An hour later, the sweep deletes the blobs
 * unless another row names them. `from` finds the blobs, and `blobId` is their column.
 */
export const releaseBlobs = (db: Database, { blobId, from }: { blobId: SQL; from: SQL }, releasedAt = new Date()) =>
  insertFrom(db, releasedBlobs, { blobId, releasedAt }, from).onConflictDoUpdate({
    target: releasedBlobs.blobId,
    set: fromNewRow(releasedBlobs, ["releasedAt"]),
  });
