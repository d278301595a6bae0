import { inArray, lt, sql, and } from "drizzle-orm";
import { contentKey, thumbnailKey } from "./blobs.ts";
import { fromJson, type Database } from "./db.ts";
import { releasedBlobs } from "./schema.ts";

/** Every key in R2 that a file's content may have. */
export const contentKeys = (blobId: string): string[] => [contentKey(blobId), thumbnailKey(blobId)];

/** Returns those of the blobs that are named by a row of an appliance, a frozen build or a published version. */
export async function listNamedBlobs(db: Database, blobIds: string[]): Promise<Set<string>> {
  if (blobIds.length === 0) return new Set();
  // No UNION, which may have at most five parts in D1.
  const namers: readonly [table: string, column: string][] = [
    ["overlay_files", "blob_id"],
    ["appliances", "logo_blob"],
    ["appliances", "background_blob"],
    ["frozen_blobs", "blob_id"],
    ["published_files", "blob_id"],
    ["resumable_uploads", "blob_id"],
    ["publications", "logo_blob"],
    ["publications", "background_blob"],
    ["publications", "screen_blob"],
    ["check_runs", "screen_blob"],
  ];
  const isNamed = namers.map(
    ([table, column]) =>
      sql`EXISTS (SELECT 1 FROM ${sql.identifier(table)} WHERE ${sql.identifier(column)} = asked.value)`,
  );
  const rows = await db.all<{ blobId: string }>(
    sql`SELECT asked.value AS blobId FROM json_each(${JSON.stringify(blobIds)}) AS asked
        WHERE ${sql.join(isNamed, sql` OR `)}`,
  );
  return new Set(rows.map(({ blobId }) => blobId));
}

/** Blobs that were released before that moment, oldest first. */
export async function listReleasedBefore(db: Database, before: Date, limit: number): Promise<string[]> {
  const rows = await db.query.releasedBlobs.findMany({
    where: lt(releasedBlobs.releasedAt, before),
    orderBy: releasedBlobs.releasedAt,
    limit,
  });
  return rows.map(({ blobId }) => blobId);
}

/** Returns those of the blobs that a row has ever released. */
export async function listReleased(db: Database, blobIds: string[]): Promise<Set<string>> {
  const rows = await db.select({ blobId: releasedBlobs.blobId }).from(releasedBlobs).where(isOneOf(blobIds));
  return new Set(rows.map(({ blobId }) => blobId));
}

/** Deletes the notes about released blobs. A blob that was released again since `before` keeps its note. */
export async function forgetReleased(db: Database, blobIds: string[], before: Date): Promise<void> {
  await db.delete(releasedBlobs).where(and(isOneOf(blobIds), lt(releasedBlobs.releasedAt, before)));
}

const isOneOf = (blobIds: string[]) => inArray(releasedBlobs.blobId, fromJson(blobIds));
