import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { testdrives } from "./schema.ts";
import { isSilentIn, type Silence } from "./silent.ts";

export type Testdrive = typeof testdrives.$inferSelect;
/** Everything that has not ended holds a slot. Spelt like the condition of the indexes. */
const isLive = sql`state IN ('new', 'running')`;

/** Takes a slot and an id in one statement; undefined: all slots, or all of this account, are taken. */
export async function addTestdrive(
  db: Database,
  row: {
    uid?: string | undefined;
    accountId: number;
    buildId: number;
    pageToken: string;
    webToken?: string | undefined;
    wakeAt: Date;
  },
  limits: { all: number; perAccount: number },
): Promise<Testdrive | undefined> {
  const ofAccount = sql`account_id = ${row.accountId}`;
  const [added] = await insertWhere(
    db,
    testdrives,
    { ...row, state: "new", createdAt: new Date() },
    sql`(SELECT count(*) FROM testdrives WHERE ${isLive}) < ${limits.all}
        AND (SELECT count(*) FROM testdrives WHERE ${isLive} AND ${ofAccount}) < ${limits.perAccount}`,
  ).returning();
  return added;
}

/** By its id alone: the caller compares the page token or asks the object for the attempt's. */
export const findTestdrive = (db: Database, id: number): Promise<Testdrive | undefined> =>
  db.query.testdrives.findFirst({ where: eq(testdrives.id, id) });

/** The one that a request has started. */
export const findTestdriveByUid = (db: Database, uid: string): Promise<Testdrive | undefined> =>
  db.query.testdrives.findFirst({ where: eq(testdrives.uid, uid) });

/** Of an account; with an appliance, only those of its builds. */
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

/** Oldest first: those that may still wait for an agent, because they are younger than any claim may take. */
export const listNewTestdrives = (db: Database, madeAfter: Date): Promise<Testdrive[]> =>
  db.query.testdrives.findMany({
    where: and(eq(testdrives.state, "new"), gt(testdrives.createdAt, madeAfter)),
    orderBy: asc(testdrives.id),
  });

/** Those that an agent claimed and that have not ended. */
export const listTestdrivesOfAgent = (db: Database, agentId: number): Promise<Testdrive[]> =>
  db.query.testdrives.findMany({ where: and(isLive, eq(testdrives.agentId, agentId)) });

/** Live ones that are silent (`isSilentIn`). */
export const takeSilentTestdrives = (db: Database, silence: Silence): Promise<Testdrive[]> =>
  db
    .update(testdrives)
    .set({ wakeAt: silence.wakeAt })
    .where(isSilentIn("testdrives", isLive, silence))
    .returning();

/** Ended is final: a late report cannot take the slot again. */
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
