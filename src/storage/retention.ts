import { and, asc, eq, isNotNull, isNull, not, sql } from "drizzle-orm";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { builds } from "./schema.ts";

/** Whether an image must be kept: a testdrive uses it, or it is in the gallery. */
const isKept = sql`(EXISTS (SELECT 1 FROM testdrives WHERE build_id = builds.id AND state IN ('new', 'running'))
  OR EXISTS (SELECT 1 FROM publications
    WHERE publications.appliance_id = builds.appliance_id AND publications.version = builds.version))`;

/** The position of an image among those that finished before a moment. */
export interface ExpiryCursor {
  completedAt: number;
  id: number;
}

/**
 * Images that finished before a moment, oldest first, beginning after a position. Each with whether it must be kept.
 */
export const listOldImages = async (
  db: Database,
  { before, after, limit }: { before: Date; after: ExpiryCursor; limit: number },
): Promise<{ build: Build; isKept: boolean }[]> =>
  await db
    .select({ build: builds, isKept: isKept.mapWith(Boolean) })
    .from(builds)
    .where(
      and(
        eq(builds.status, "finished"),
        isNotNull(builds.imageKey),
        isNull(builds.retiredAt),
        sql`${builds.completedAt} < ${before.getTime()} AND ${builds.completedAt} >= ${after.completedAt}`,
        sql`(${builds.completedAt} > ${after.completedAt} OR ${builds.id} > ${after.id})`,
      ),
    )
    .orderBy(asc(builds.completedAt), asc(builds.id))
    .limit(limit);

/**
 * Marks a build as expired: it no longer has an image, a file store or a delta. False if something needs the image now,
 * or if the build no longer exists.
 */
export async function markExpired(db: Database, id: number, expiredAt: Date): Promise<boolean> {
  const marked = await db
    .update(builds)
    .set({ expiredAt, imageKey: null, filesKey: null, filesIndexKey: null, deltaKey: null })
    .where(and(eq(builds.id, id), isNotNull(builds.imageKey), not(isKept)))
    .returning({ id: builds.id });
  return marked.length > 0;
}

/** Deletes the rows of builds that have had no image since before that moment. Returns their uids. */
export async function deleteImagelessBefore(db: Database, before: Date, limit: number): Promise<{ uid: string }[]> {
  // The condition of the index `builds_imageless`.
  const imageless = sql`SELECT id FROM builds
    WHERE image_key IS NULL AND retired_at IS NULL AND status NOT IN ('queued', 'running')`;
  const oldest = sql`(${imageless} AND expired_at < ${before.getTime()}
    UNION ALL ${imageless} AND expired_at IS NULL AND completed_at < ${before.getTime()} LIMIT ${limit})`;
  return await db
    .delete(builds)
    .where(sql`id IN ${oldest}`)
    .returning({ uid: builds.uid });
}
