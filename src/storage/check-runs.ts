import { and, desc, eq, inArray, isNotNull, lt, sql } from "drizzle-orm";
import type { Arch, Check } from "#lib/contract/index";
import type { Database } from "./db.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { appliances, builds, checkRuns } from "./schema.ts";
import { isSilentIn, type Silence } from "./silent.ts";
import { hasFreeTestdrive, type TestdriveLimits } from "./testdrives.ts";

export type CheckRun = typeof checkRuns.$inferSelect;

// Literals, as in the partial indexes: SQLite does not use such an index for a bound parameter.
const isUnfinished = sql.raw("state IN ('waiting', 'running')");
const isWaiting = sql.raw("state = 'waiting'");
const isRunning = sql.raw("state = 'running'");

/** How many runs of a build are kept, including the newest. */
const keptRuns = 5;

/**
 * Adds a waiting run, deletes the oldest runs of the build, and forgets the machine of the run before it, which an agent
 * may replace from now on. Undefined if the build has an unfinished run, or if there is a run with this uid.
 */
export async function addCheckRun(
  db: Database,
  row: { uid: string; accountId: number; buildId: number; checks: Check[]; wakeAt: Date },
): Promise<CheckRun | undefined> {
  const [run] = await db
    .insert(checkRuns)
    .values({ ...row, state: "waiting", createdAt: new Date() })
    .onConflictDoNothing()
    .returning();
  if (run) await retireOldRuns(db, run);
  return run;
}

async function retireOldRuns(db: Database, { id, buildId }: CheckRun): Promise<void> {
  const old = sql`id IN (SELECT id FROM check_runs WHERE build_id = ${buildId} ORDER BY id DESC LIMIT -1 OFFSET ${keptRuns})`;
  await db.batch([
    releaseBlobs(db, {
      blobId: sql`screen_blob`,
      from: sql`FROM check_runs WHERE ${old} AND screen_blob IS NOT NULL`,
    }),
    db.delete(checkRuns).where(old),
    db
      .update(checkRuns)
      .set({ isMachineKept: false })
      .where(and(eq(checkRuns.buildId, buildId), lt(checkRuns.id, id))),
  ]);
}

export const findCheckRunByUid = (db: Database, uid: string): Promise<CheckRun | undefined> =>
  db.query.checkRuns.findFirst({ where: eq(checkRuns.uid, uid) });

/** The run whose last attempt is this testdrive. */
export const findCheckRunOfTestdrive = (db: Database, testdriveUid: string): Promise<CheckRun | undefined> =>
  db.query.checkRuns.findFirst({
    where: and(eq(checkRuns.testdriveUid, testdriveUid), isNotNull(checkRuns.testdriveUid)),
  });

/** The runs of a build, newest first. */
export const listCheckRuns = (db: Database, buildId: number): Promise<CheckRun[]> =>
  db.query.checkRuns.findMany({ where: eq(checkRuns.buildId, buildId), orderBy: desc(checkRuns.id) });

/** The newest run of each of these builds. */
export const listLastCheckRuns = (db: Database, buildIds: readonly number[]): Promise<CheckRun[]> =>
  db.query.checkRuns.findMany({
    where: inArray(
      checkRuns.id,
      sql`(SELECT (SELECT max(id) FROM check_runs WHERE build_id = asked.value) FROM json_each(${JSON.stringify(buildIds)}) AS asked)`,
    ),
  });

/** The place of a waiting run. Those with a lower turn come first, and older ones among equal turns. */
export interface PlaceOfRun {
  /** The number of this run among the waiting ones of its account. */
  turn: number;
  id: number;
}

/** A waiting run, and the architecture of its image; null if the image is gone. */
export interface WaitingRun {
  run: CheckRun;
  arch: Arch | null;
  place: PlaceOfRun;
}

/**
 * Waiting runs of the accounts that may start another testdrive, from the first or after a place. Accounts take turns.
 * Locked accounts have none.
 */
export async function listWaitingRuns(
  db: Database,
  { after, limit, slots }: { after?: PlaceOfRun | undefined; limit: number; slots: TestdriveLimits },
): Promise<WaitingRun[]> {
  const turns = sql`(SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY id) AS turn
    FROM check_runs WHERE ${isWaiting} AND NOT EXISTS (
      SELECT 1 FROM accounts WHERE accounts.id = check_runs.account_id AND (locked_at IS NOT NULL OR removed_at IS NOT NULL))
      AND ${hasFreeTestdrive(sql`check_runs.account_id`, slots)})`;
  const next = db
    .select({ id: sql<number>`id`.as("next_id"), turn: sql<number>`turn`.as("turn") })
    .from(sql`${turns} AS t`)
    .where(sql`(t.turn, t.id) > (${after?.turn ?? 0}, ${after?.id ?? 0})`)
    .orderBy(sql`t.turn, t.id`)
    .limit(limit)
    .as("next");
  const rows = await db
    .select({ run: checkRuns, arch: appliances.arch, turn: next.turn })
    .from(next)
    .innerJoin(checkRuns, eq(checkRuns.id, next.id))
    .leftJoin(builds, eq(builds.id, checkRuns.buildId))
    .leftJoin(appliances, eq(appliances.id, builds.applianceId))
    .orderBy(sql`turn, next_id`);
  return rows.map(({ run, arch, turn }) => ({ run, arch, place: { turn, id: run.id } }));
}

/** Gives a waiting run to the attempt with this testdrive. False if another agent was faster. */
export async function takeCheckRun(
  db: Database,
  { id }: Pick<CheckRun, "id">,
  { testdriveUid, wakeAt }: { testdriveUid: string; wakeAt: Date },
): Promise<boolean> {
  const taken = await db
    .update(checkRuns)
    .set({ state: "running", testdriveUid, wakeAt, attempts: sql`attempts + 1` })
    .where(and(eq(checkRuns.id, id), isWaiting))
    .returning({ id: checkRuns.id });
  return taken.length > 0;
}

/** Makes the run wait again, as if the attempt had never been. */
export async function untakeCheckRun(db: Database, testdriveUid: string): Promise<void> {
  await db
    .update(checkRuns)
    .set({ state: "waiting", testdriveUid: null, attempts: sql`attempts - 1` })
    .where(isAttempt(testdriveUid));
}

/**
 * Ends an attempt that has not reported. The run waits for the next attempt, or ends as `error` after the last one.
 * Undefined if the attempt had reported.
 */
export async function endCheckAttempt(
  db: Database,
  testdriveUid: string,
  { message, maxAttempts }: { message: string; maxAttempts: number },
): Promise<CheckRun | undefined> {
  const isLast = sql`attempts >= ${maxAttempts}`;
  const [ended] = await db
    .update(checkRuns)
    .set({
      state: sql`iif(${isLast}, 'error', 'waiting')`,
      endedAt: sql`iif(${isLast}, ${Date.now()}, NULL)`,
      message,
    })
    .where(isAttempt(testdriveUid))
    .returning();
  return ended;
}

/** Ends a waiting run that cannot be done. */
export async function failWaitingRun(db: Database, { id }: Pick<CheckRun, "id">, message: string): Promise<void> {
  await db
    .update(checkRuns)
    .set({ state: "error", message, endedAt: new Date() })
    .where(and(eq(checkRuns.id, id), isWaiting));
}

type Ending = Pick<
  CheckRun,
  "state" | "results" | "loginSeconds" | "isEmulated" | "console" | "screenBlob" | "isMachineKept"
>;

/** Saves the results of an attempt. False if the attempt is over, or has reported before. */
export async function saveCheckResults(db: Database, testdriveUid: string, ending: Ending): Promise<boolean> {
  const saved = await db
    .update(checkRuns)
    .set({ ...ending, message: "", endedAt: new Date() })
    .where(isAttempt(testdriveUid))
    .returning({ id: checkRuns.id });
  return saved.length > 0;
}

/** Unfinished runs that the sweep must check now. They are returned again only after `wakeAt`. */
export const takeSilentCheckRuns = (db: Database, silence: Silence): Promise<CheckRun[]> =>
  db
    .update(checkRuns)
    .set({ wakeAt: silence.wakeAt })
    .where(isSilentIn("check_runs", isUnfinished, silence))
    .returning();

const isAttempt = (testdriveUid: string) =>
  and(eq(checkRuns.testdriveUid, testdriveUid), isNotNull(checkRuns.testdriveUid), isRunning);
