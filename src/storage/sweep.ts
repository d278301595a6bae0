import { eq, inArray, sql } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { builds, sweepPositions } from "./schema.ts";

/** The columns of a build that the sweep needs when it finds a blob of the build. */
export type SweptBuild = Pick<typeof builds.$inferSelect, "uid" | "status" | "imageKey" | "filesIndexKey" | "deltaKey">;

/** The builds with these uids. */
export const listBuildsByUid = (db: Database, uids: string[]): Promise<SweptBuild[]> =>
  db.query.builds.findMany({
    columns: { uid: true, status: true, imageKey: true, filesIndexKey: true, deltaKey: true },
    where: inArray(builds.uid, fromJson(uids)),
  });

/** Returns those of the frozen inputs that a row names. */
export async function listUsedInputs(db: Database, digests: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ sha256: builds.inputSha256 })
    .from(builds)
    .where(inArray(builds.inputSha256, fromJson(digests)));
  return new Set(rows.map(({ sha256 }) => sha256));
}

/** Deletes the rows of builds that were replaced before that moment, oldest first. Returns their uids. */
export async function deleteRetiredBefore(db: Database, before: Date, limit: number): Promise<{ uid: string }[]> {
  return await db
    .delete(builds)
    .where(sql`id IN (SELECT id FROM builds WHERE retired_at < ${before.getTime()} ORDER BY retired_at LIMIT ${limit})`)
    .returning({ uid: builds.uid });
}

export async function findSweepPosition(db: Database, prefix: string): Promise<string | undefined> {
  const row = await db.query.sweepPositions.findFirst({ where: eq(sweepPositions.prefix, prefix) });
  return row?.cursor;
}

/** Saves where the sweep continues. Without a cursor, the next run starts from the beginning. */
export async function saveSweepPosition(db: Database, prefix: string, cursor: string | undefined): Promise<void> {
  if (cursor === undefined) await db.delete(sweepPositions).where(eq(sweepPositions.prefix, prefix));
  else {
    const set = { cursor };
    await db
      .insert(sweepPositions)
      .values({ prefix, cursor })
      .onConflictDoUpdate({ target: sweepPositions.prefix, set });
  }
}
