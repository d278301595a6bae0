import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { frozenBlobs } from "./schema.ts";

/** Keeps blobs until the build ends, even if the rows that name them now are deleted. */
export async function freezeBlobs(db: Database, buildId: number, blobIds: readonly string[]): Promise<void> {
  if (blobIds.length === 0) return;
  const from = sql`FROM json_each(${JSON.stringify(blobIds)}) WHERE true`;
  await insertFrom(db, frozenBlobs, { buildId, blobId: sql`value` }, from).onConflictDoNothing();
}

/** Whether the frozen input of this build names the blob. */
export async function isFrozenFor(db: Database, buildId: number, blobId: string): Promise<boolean> {
  const found = await db.query.frozenBlobs.findFirst({
    where: and(eq(frozenBlobs.buildId, buildId), eq(frozenBlobs.blobId, blobId)),
  });
  return found !== undefined;
}

/**
 * Releases the blobs of builds that have ended or are gone. An hour later, the sweep deletes those that no row names.
 */
export async function thawBlobs(db: Database, now: Date): Promise<void> {
  const isOver = sql`NOT EXISTS (SELECT 1 FROM builds WHERE builds.id = frozen_blobs.build_id AND ${isUnfinished})`;
  await db.batch([
    releaseBlobs(db, { blobId: sql`blob_id`, from: sql`FROM frozen_blobs WHERE ${isOver}` }, now),
    db.delete(frozenBlobs).where(isOver),
  ]);
}

const isUnfinished = sql`builds.status IN ('queued', 'running')`;
