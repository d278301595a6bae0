import { and, asc, eq, gt, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { testdrives } from "./schema.ts";
import { isSilentIn, type Silence } from "./silent.ts";

export type Testdrive = typeof testdrives.$inferSelect;
/** A testdrive that has not ended holds a slot. The text must equal the condition of the indexes. */
const isLive = sql`state IN ('new', 'running')`;

export interface TestdriveLimits {
  all: number;
  perAccount: number;
}

/** Whether the account with this id, or in this column, may start another testdrive. */
export const hasFreeTestdrive = (accountId: number | SQL, limits: TestdriveLimits): SQL =>
  sql`(SELECT count(*) FROM testdrives WHERE ${isLive}) < ${limits.all}
    AND (SELECT count(*) FROM testdrives WHERE ${isLive} AND account_id = ${accountId}) < ${limits.perAccount}`;

/** Takes a slot and an id in one statement. Undefined if all slots are taken, in total or for this account. */
export async function addTestdrive(
  db: Database,
  row: {
    uid?: string | undefined;
    accountId: number;
    buildId: number;
    pageToken: string;
    webToken?: string | undefined;
    isCheck?: boolean;
    wakeAt: Date;
  },
  limits: TestdriveLimits,
): Promise<Testdrive | undefined> {
  const [added] = await insertWhere(
    db,
    testdrives,
    { ...row, state: "new", createdAt: new Date() },
    hasFreeTestdrive(row.accountId, limits),
  ).returning();
  return added;
}

/** A testdrive by its id alone. The caller checks the page token, or lets the object check the attempt's token. */
export const findTestdrive = (db: Database, id: number): Promise<Testdrive | undefined> =>
  db.query.testdrives.findFirst({ where: eq(testdrives.id, id) });

/** The testdrive that was started by a request. */
export const findTestdriveByUid = (db: Database, uid: string): Promise<Testdrive | undefined> =>
  db.query.testdrives.findFirst({ where: eq(testdrives.uid, uid) });

/** The live testdrives of an account; with an appliance, only those of its builds. */
export const listLiveTestdrives = (
  db: Database,
  accountId: number,
  applianceId: number | null = null,
): Promise<Testdrive[]> => {
  const ofAppliance = sql`build_id IN (SELECT id FROM builds WHERE appliance_id = ${applianceId})`;
  return db.query.testdrives.findMany({
    where: and(isLive, eq(testdrives.accountId, accountId), applianceId === null ? undefined : ofAppliance),
    orderBy: asc(testdrives.id),
  });
};

/** Testdrives that may still be waiting for an agent, because the time for a claim is not over. Oldest first. */
export const listNewTestdrives = (db: Database, madeAfter: Date): Promise<Testdrive[]> =>
  db.query.testdrives.findMany({
    where: and(eq(testdrives.state, "new"), gt(testdrives.createdAt, madeAfter)),
    orderBy: asc(testdrives.id),
  });

/** Testdrives that an agent has claimed and that have not ended. */
export const listTestdrivesOfAgent = (db: Database, agentId: number): Promise<Testdrive[]> =>
  db.query.testdrives.findMany({ where: and(isLive, eq(testdrives.agentId, agentId)) });

/** Live testdrives that are silent (`isSilentIn`). */
export const takeSilentTestdrives = (db: Database, silence: Silence): Promise<Testdrive[]> =>
  db
    .update(testdrives)
    .set({ wakeAt: silence.wakeAt })
    .where(isSilentIn("testdrives", isLive, silence))
    .returning();

/** Saves the state of a testdrive. `ended` is final: a late report cannot take the slot again. */
export async function saveTestdrive(
  db: Database,
  uid: string,
  { state, ...row }: Pick<Testdrive, "state"> & Partial<Pick<Testdrive, "agentId" | "wakeAt">>,
): Promise<void> {
  const endedAt = state === "ended" ? new Date() : null;
  await db
    .update(testdrives)
    .set({ ...row, state, endedAt })
    .where(and(eq(testdrives.uid, uid), isLive));
}

/**
 * Deletes the oldest testdrives if they ended before that moment. Returns their number. The plus keeps SQLite from
 * sorting all ended testdrives. Instead it walks through the ids and skips only live ones, whose number the slots
 * limit.
 */
export async function deleteEndedTestdrives(db: Database, before: Date, limit: number): Promise<number> {
  const oldest = sql`(SELECT id FROM testdrives WHERE +state = 'ended' ORDER BY id LIMIT ${limit})`;
  const gone = await db
    .delete(testdrives)
    .where(sql`id IN ${oldest} AND ended_at < ${before.getTime()}`)
    .returning({ id: testdrives.id });
  return gone.length;
}
