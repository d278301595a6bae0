import { and, eq, inArray, sql } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { preparedRoots } from "./schema.ts";

export type PreparedRoot = typeof preparedRoots.$inferSelect;

/** Saves a prepared root. It replaces the previous one, whose blob then belongs to no row. */
export async function savePreparedRoot(db: Database, root: PreparedRoot): Promise<void> {
  const { applianceId: _, key: __, ...set } = root;
  const target = [preparedRoots.applianceId, preparedRoots.key];
  await db.insert(preparedRoots).values(root).onConflictDoUpdate({ target, set });
}

export const findPreparedRoot = (db: Database, applianceId: number, key: string): Promise<PreparedRoot | undefined> =>
  db.query.preparedRoots.findFirst({
    where: and(eq(preparedRoots.applianceId, applianceId), eq(preparedRoots.key, key)),
  });

/** The blobs of prepared roots among those of some builds. */
export async function listPreparedBlobs(db: Database, buildUids: string[]): Promise<Set<string>> {
  const rows = await db
    .select({ blobKey: preparedRoots.blobKey })
    .from(preparedRoots)
    .where(inArray(preparedRoots.buildId, sql`(SELECT id FROM builds WHERE uid IN ${fromJson(buildUids)})`));
  return new Set(rows.map(({ blobKey }) => blobKey));
}

/** Deletes the roots from before that moment and those whose build is gone. Returns the keys of their blobs. */
export async function deletePreparedBefore(db: Database, before: Date): Promise<string[]> {
  const gone = await db
    .delete(preparedRoots)
    .where(
      sql`${preparedRoots.createdAt} < ${before.getTime()}
        OR NOT EXISTS (SELECT 1 FROM builds WHERE builds.id = ${preparedRoots.buildId})`,
    )
    .returning({ blobKey: preparedRoots.blobKey });
  return gone.map(({ blobKey }) => blobKey);
}
