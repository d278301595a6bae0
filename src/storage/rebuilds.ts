import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Rebuilt } from "#lib/attest/rebuild";
import { hasSlot, isTaken, rowOf, type Build, type NewBuild, type Slots } from "./builds.ts";
import { counted } from "./counters.ts";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { builds } from "./schema.ts";

/** How many rebuilds of a build are kept, including the newest. */
const kept = 5;

/** `retired_at` of a rebuild that is kept: the latest possible time. The sweep removes rebuilds with an earlier one. */
const never = 8_640_000_000_000_000;

// Literals, as in the partial indexes: SQLite does not use such an index for a bound parameter.
const isRebuild = sql.raw("rebuild_of IS NOT NULL");
const isKept = sql.raw(`retired_at = ${never}`);

/**
 * Adds a rebuild of a build whose image is stored, and retires the oldest rebuilds of that build. Undefined if the
 * build has no image, if there is no free slot, or if another rebuild of it is queued or running.
 */
export async function addRebuild(
  db: Database,
  first: Pick<Build, "id">,
  rebuild: NewBuild,
  slots: Slots,
): Promise<Build | undefined> {
  const [added] = await insertFrom(
    db,
    builds,
    { ...rebuild, status: "queued", rebuildOf: first.id, retiredAt: new Date(never) },
    sql`FROM builds AS first WHERE first.id = ${first.id} AND first.status = 'finished' AND first.retired_at IS NULL
      AND first.expired_at IS NULL AND ${hasSlot(rebuild.accountId, slots)}`,
  )
    .onConflictDoNothing()
    .returning();
  if (added) await retireOld(db, first.id, rebuild.createdAt);
  return added;
}

async function retireOld(db: Database, buildId: number, retiredAt: Date): Promise<void> {
  const old = sql`id IN (SELECT id FROM builds WHERE rebuild_of = ${buildId} AND ${isRebuild} AND ${isKept}
    ORDER BY id DESC LIMIT -1 OFFSET ${kept})`;
  await db.update(builds).set({ retiredAt }).where(old);
}

/** The rebuilds of these builds, newest first. */
export const listRebuilds = (db: Database, buildIds: readonly number[]): Promise<Build[]> =>
  db.query.builds.findMany({
    where: and(inArray(builds.rebuildOf, fromJson(buildIds)), isRebuild, isKept),
    orderBy: desc(builds.id),
  });

/** The queued or running rebuild of a build. */
export const findUnfinishedRebuild = (db: Database, buildId: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({ where: and(eq(builds.rebuildOf, buildId), isRebuild, isTaken) });

/** The queued or running rebuilds of an appliance's builds. */
export const listRunningRebuilds = (db: Database, accountId: number, applianceId: number): Promise<Build[]> =>
  db.query.builds.findMany({
    where: and(eq(builds.accountId, accountId), isTaken, isRebuild, eq(builds.applianceId, applianceId)),
  });

export type RebuildResult = Pick<Build, "builder" | "builtIn" | "conditions" | "steps" | "rebuiltStatement"> & {
  rebuilt: Rebuilt;
  completedAt: Date;
};

/** Records the result of a rebuild. Repeating it is safe. */
export async function saveRebuilt(db: Database, uid: string, result: RebuildResult): Promise<void> {
  await db.batch([
    counted(db, { name: "builds_ended", label: "finished ", at: result.completedAt, when: rowOf(uid, isTaken) }),
    db
      .update(builds)
      .set({ ...result, message: "Finished", status: "finished", agentId: null })
      .where(and(eq(builds.uid, uid), isTaken)),
  ]);
}
