import { inArray, lt, sql, and } from "drizzle-orm";
import { contentKey, thumbnailKey } from "./blobs.ts";
import { fromJson, type Database } from "./db.ts";
import { releasedBlobs } from "./schema.ts";

/** Every key that a content may have in R2. */
export const contentKeys = (blobId: string): string[] => [contentKey(blobId), thumbnailKey(blobId)];

/** Those of the blobs that a row names: an appliance's, a frozen build's, a published version's. */
export async function listNamedBlobs(db: Database, blobIds: string[]): Promise<Set<string>> {
  if (blobIds.length === 0) return new Set();
  // No UNION: in D1 it may have at most five parts.
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

/** Blobs that a row released before that moment, the oldest first. */
export async function listReleasedBefore(db: Database, before: Date, limit: number): Promise<string[]> {
  const rows = await db.query.releasedBlobs.findMany({
    where: lt(releasedBlobs.releasedAt, before),
    orderBy: releasedBlobs.releasedAt,
    limit,
  });
  return rows.map(({ blobId }) => blobId);
}

/** Those of the blobs that a row has ever released. */
export async function listReleased(db: Database, blobIds: string[]): Promise<Set<string>> {
  const rows = await db.select({ blobId: releasedBlobs.blobId }).from(releasedBlobs).where(isOneOf(blobIds));
  return new Set(rows.map(({ blobId }) => blobId));
}

/** A blob that was released again meanwhile keeps its row. */
export async function forgetReleased(db: Database, blobIds: string[], before: Date): Promise<void> {
  await db.delete(releasedBlobs).where(and(isOneOf(blobIds), lt(releasedBlobs.releasedAt, before)));
}

const isOneOf = (blobIds: string[]) => inArray(releasedBlobs.blobId, fromJson(blobIds));
