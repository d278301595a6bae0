import { and, asc, eq, isNotNull, isNull, not, sql } from "drizzle-orm";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { builds } from "./schema.ts";

/** Whether an image must be kept: a testdrive uses it, or it is in the gallery. */
const isKept = sql`(EXISTS (SELECT 1 FROM testdrives WHERE build_id = ${builds.id} AND state IN ('new', 'running'))
  OR EXISTS (SELECT 1 FROM publications
    WHERE publications.appliance_id = ${builds.applianceId} AND publications.version = ${builds.version}))`;

/** Finished builds whose images may be deleted, oldest first. */
export const listExpirable = (db: Database, finishedBefore: Date, limit: number): Promise<Build[]> =>
  db.query.builds.findMany({
    where: and(
      eq(builds.status, "finished"),
      isNotNull(builds.imageKey),
      isNull(builds.retiredAt),
      sql`${builds.completedAt} < ${finishedBefore.getTime()}`,
      not(isKept),
    ),
    orderBy: asc(builds.completedAt),
    limit,
  });

/**
 * Marks a build as expired: it no longer has an image or a file store. False if something needs the image now, or the
 * build no longer exists.
 */
export async function markExpired(db: Database, id: number, expiredAt: Date): Promise<boolean> {
  const marked = await db
    .update(builds)
    .set({ expiredAt, imageKey: null, filesKey: null, filesIndexKey: null })
    .where(and(eq(builds.id, id), isNotNull(builds.imageKey), not(isKept)))
    .returning({ id: builds.id });
  return marked.length > 0;
}
