import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Build } from "./builds.ts";
import { fromJson, type Database } from "./db.ts";
import { builds, publications } from "./schema.ts";

/** A published version that is not in the log, and the builds of its images. */
export interface UnloggedPublication {
  publicationId: number;
  buildIds: number[];
}

/** Published versions that are not in the log, oldest first. */
export async function listUnlogged(db: Database, limit: number): Promise<UnloggedPublication[]> {
  const rows = await db
    .select({ publicationId: publications.id, formats: publications.formats })
    .from(publications)
    .where(sql`is_logged = 0`)
    .orderBy(asc(publications.id))
    .limit(limit);
  return rows.map(({ publicationId, formats }) => ({ publicationId, buildIds: formats.map(({ buildId }) => buildId) }));
}

/** The builds with these ids that have no entry in the log yet. */
export const listUnloggedBuilds = async (db: Database, ids: readonly number[]): Promise<Build[]> =>
  await db
    .select()
    .from(builds)
    .where(and(inArray(builds.id, fromJson(ids)), isNull(builds.logPosition)));

/** Notes where the entry of a build is. */
export async function saveLogPosition(db: Database, buildId: number, position: number): Promise<void> {
  await db.update(builds).set({ logPosition: position }).where(eq(builds.id, buildId));
}

/** Notes that all images of a published version are in the log. */
export async function saveLogged(db: Database, publicationId: number): Promise<void> {
  await db.update(publications).set({ isLogged: true }).where(eq(publications.id, publicationId));
}
