import { and, eq, lte, sql } from "drizzle-orm";
import type { PlannedBuild } from "#model/automatic-build";
import { fromJson, type Database } from "./db.ts";
import { watches, watchTurns } from "./schema.ts";

/** When the sweep next checks the images of an appliance, and the appliance's last automatic build. */
export type Watch = typeof watches.$inferSelect;

interface Due {
  now: Date;
  again: Date;
  limit: number;
}

/**
 * Takes appliances that are due. Accounts take turns, starting with the one that has waited longest. Within an account,
 * the longest overdue appliance comes first. The appliances are due again at `again`. `isMore`: others may be due, too.
 */
export async function takeDueWatches(
  db: Database,
  { now, again, limit }: Due,
): Promise<{ due: Watch[]; isMore: boolean }> {
  const at = now.getTime();
  const turns = sql`SELECT account_id FROM watch_turns WHERE due_at <= ${at} ORDER BY due_at, account_id LIMIT ${limit}`;
  const ofAccount = sql`SELECT appliance_id FROM watches
    WHERE account_id = turn.account_id AND look_at <= ${at} ORDER BY look_at LIMIT ${limit}`;
  const inTurns = sql`SELECT one.appliance_id FROM (${turns}) AS turn CROSS JOIN watches AS one
    WHERE one.appliance_id IN (${ofAccount})
    ORDER BY row_number() OVER (PARTITION BY one.account_id ORDER BY one.look_at), one.look_at LIMIT ${limit}`;
  const nextTurn = sql`(SELECT max(${at}, min(look_at)) FROM watches WHERE watches.account_id = watch_turns.account_id)`;
  const [due, , more] = await db.batch([
    db
      .update(watches)
      .set({ lookAt: again })
      .where(sql`appliance_id IN (${inTurns})`)
      .returning(),
    db
      .update(watchTurns)
      .set({ dueAt: nextTurn })
      .where(sql`account_id IN (${turns})`),
    db.select().from(watchTurns).where(lte(watchTurns.dueAt, now)).limit(1),
  ]);
  return { due, isMore: more.length > 0 };
}

/** Sets the time of the sweep's next check, unless another change has set it since the appliance was taken. */
export async function saveNextLook(db: Database, { applianceId, lookAt: taken }: Watch, next: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: next })
    .where(and(eq(watches.applianceId, applianceId), eq(watches.lookAt, taken)));
}

export const findWatch = (db: Database, applianceId: number): Promise<Watch | undefined> =>
  db.query.watches.findFirst({ where: eq(watches.applianceId, applianceId) });

/** Makes an appliance due at this time, unless it is due earlier. */
export async function makeDue(db: Database, applianceId: number, at: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: sql`min(look_at, ${at.getTime()})` })
    .where(eq(watches.applianceId, applianceId));
}

/** Makes the appliances of these images due at this time. */
export async function lookAtImages(db: Database, buildIds: readonly number[], at: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: sql`min(look_at, ${at.getTime()})` })
    .where(sql`appliance_id IN (SELECT appliance_id FROM builds WHERE id IN ${fromJson(buildIds)})`);
}

/** The facts at the time when an automatic build was decided on. */
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

/** Begins an automatic build, unless another run has decided about one since the watch was read. */
export async function beginAutomaticBuild(db: Database, watch: Watch, begun: Begun): Promise<Watch | undefined> {
  const { version: automaticVersion, builds: automaticBuilds, publication: automaticPublication } = begun;
  const [saved] = await db
    .update(watches)
    .set({ automaticState: "building", automaticVersion, automaticBuilds, automaticPublication, ...columnsOf(begun) })
    .where(isStill(watch))
    .returning();
  return saved;
}

/** Stores the reason why no automatic build was started. */
export async function refuseAutomaticBuild(db: Database, watch: Watch, decided: Decided): Promise<void> {
  const none = { automaticVersion: null, automaticBuilds: [], automaticPublication: null };
  await db
    .update(watches)
    .set({ automaticState: "refused", ...none, ...columnsOf(decided) })
    .where(isStill(watch));
}

export interface AutomaticBuildEnd {
  state: "done" | "failed";
  message: string;
}

export async function endAutomaticBuild(
  db: Database,
  watch: Watch,
  { state, message }: AutomaticBuildEnd,
): Promise<void> {
  await db.update(watches).set({ automaticState: state, automaticMessage: message }).where(isStill(watch));
}

const columnsOf = ({ at, from, contents, editedAt, message }: Decided) => ({
  automaticAt: at,
  automaticFrom: from,
  automaticContents: contents,
  automaticEditedAt: editedAt,
  automaticMessage: message,
});

/** Whether the row still has the automatic build that was read. */
const isStill = ({ applianceId, automaticState, automaticAt }: Watch) =>
  and(
    eq(watches.applianceId, applianceId),
    sql`automatic_state IS ${automaticState} AND automatic_at IS ${automaticAt?.getTime() ?? null}`,
  );
