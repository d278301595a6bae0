import { and, asc, eq, isNull } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accounts, appliances, builds, eventOutbox, testdrives } from "./schema.ts";

/** An event that may not have been announced to the account yet. */
export type OutboxEvent = typeof eventOutbox.$inferSelect;

/** The columns of an event's owner. */
const owner = { accountUid: accounts.uid, account: accounts.username };

/** An event's facts about a build. Undefined if its row or its appliance's row is gone, or if it is a rebuild. */
export async function findBuildOfEvent(db: Database, uid: string) {
  const [row] = await db
    .select({
      ...owner,
      id: builds.id,
      applianceId: appliances.id,
      name: appliances.name,
      version: builds.version,
      imageType: builds.imageType,
    })
    .from(builds)
    .innerJoin(accounts, eq(accounts.id, builds.accountId))
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .where(and(eq(builds.uid, uid), isNull(builds.rebuildOf)));
  return row;
}

/** An event's facts about a testdrive. */
export async function findTestdriveOfEvent(db: Database, uid: string) {
  const [row] = await db
    .select({ ...owner, id: testdrives.id, buildId: testdrives.buildId })
    .from(testdrives)
    .innerJoin(accounts, eq(accounts.id, testdrives.accountId))
    .where(eq(testdrives.uid, uid));
  return row;
}

/** The events that have waited longest, each with its account. */
export async function listOutbox(db: Database, limit: number): Promise<{ event: OutboxEvent; accountUid: string }[]> {
  return await db
    .select({ event: eventOutbox, accountUid: accounts.uid })
    .from(eventOutbox)
    .innerJoin(accounts, eq(accounts.id, eventOutbox.accountId))
    .orderBy(asc(eventOutbox.triedAt), asc(eventOutbox.id))
    .limit(limit);
}

export async function forgetOutboxEvent(db: Database, id: number): Promise<void> {
  await db.delete(eventOutbox).where(eq(eventOutbox.id, id));
}

/** Moves an event to the end of the queue. */
export async function noteOutboxTry(db: Database, id: number, triedAt: Date): Promise<void> {
  await db.update(eventOutbox).set({ triedAt }).where(eq(eventOutbox.id, id));
}
