import { and, eq, sql } from "drizzle-orm";
import type { PlannedBuild } from "#model/rebuild";
import type { Database } from "./db.ts";
import { watches } from "./schema.ts";

/** When the sweep looks at the images of an appliance next, and its last rebuild. */
export type Watch = typeof watches.$inferSelect;

/** The appliances that are due, the longest overdue first. They are due again only at `again`. */
export const takeDueWatches = (
  db: Database,
  { now, again, limit }: { now: Date; again: Date; limit: number },
): Promise<Watch[]> =>
  db
    .update(watches)
    .set({ lookAt: again })
    .where(
      sql`appliance_id IN (SELECT appliance_id FROM watches WHERE look_at <= ${now.getTime()} ORDER BY look_at LIMIT ${limit})`,
    )
    .returning();

/** Sets when the sweep looks again, unless another change has set it since the appliance was taken. */
export async function saveNextLook(db: Database, { applianceId, lookAt: taken }: Watch, next: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: next })
    .where(and(eq(watches.applianceId, applianceId), eq(watches.lookAt, taken)));
}

export const findWatch = (db: Database, applianceId: number): Promise<Watch | undefined> =>
  db.query.watches.findFirst({ where: eq(watches.applianceId, applianceId) });

/** An appliance that is not in the list of the sweep, or is due later, is due at this time. */
export async function lookBy(db: Database, applianceId: number, at: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: sql`min(look_at, ${at.getTime()})` })
    .where(eq(watches.applianceId, applianceId));
}

/** What was known when it was decided about a rebuild. */
interface Decided {
  at: Date;
  from: string;
  contents: string;
  editedAt: Date;
  message: string;
}

interface Begun extends Decided {
  version: string;
  builds: PlannedBuild[];
  publication: string;
}

/** Begins a rebuild, unless another run has decided about one since the watch was read. */
export async function beginRebuild(db: Database, watch: Watch, begun: Begun): Promise<Watch | undefined> {
  const { version: rebuildVersion, builds: rebuildBuilds, publication: rebuildPublication } = begun;
  const [saved] = await db
    .update(watches)
    .set({ rebuildState: "building", rebuildVersion, rebuildBuilds, rebuildPublication, ...columnsOf(begun) })
    .where(isStill(watch))
    .returning();
  return saved;
}

/** Stores why there was no rebuild. */
export async function refuseRebuild(db: Database, watch: Watch, decided: Decided): Promise<void> {
  const none = { rebuildVersion: null, rebuildBuilds: [], rebuildPublication: null };
  await db
    .update(watches)
    .set({ rebuildState: "refused", ...none, ...columnsOf(decided) })
    .where(isStill(watch));
}

export interface RebuildEnd {
  state: "done" | "failed";
  message: string;
}

export async function endRebuild(db: Database, watch: Watch, { state, message }: RebuildEnd): Promise<void> {
  await db.update(watches).set({ rebuildState: state, rebuildMessage: message }).where(isStill(watch));
}

const columnsOf = ({ at, from, contents, editedAt, message }: Decided) => ({
  rebuildAt: at,
  rebuildFrom: from,
  rebuildContents: contents,
  rebuildEditedAt: editedAt,
  rebuildMessage: message,
});

/** Whether the row has the rebuild that was read. */
const isStill = ({ applianceId, rebuildState, rebuildAt }: Watch) =>
  and(
    eq(watches.applianceId, applianceId),
    sql`rebuild_state IS ${rebuildState} AND rebuild_at IS ${rebuildAt?.getTime() ?? null}`,
  );
