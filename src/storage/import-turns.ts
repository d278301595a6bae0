import { and, eq, inArray, isNotNull, isNull, lt, lte, or, sql, type SQL } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { importTurns } from "./schema.ts";

export type ImportTurn = typeof importTurns.$inferSelect;

const waiting = { sentAt: null, leaseEndsAt: null };

/** A queue of an account's imports. Only one of them at a time has its message sent. */
export type ImportQueue = Pick<ImportTurn, "accountId" | "patience">;

/** Adds imports to the queue of their account. An import that is already waiting keeps its place. */
export async function queueImports(db: Database, repositoryIds: readonly number[], now: Date): Promise<ImportQueue[]> {
  const quick = importTurns.patience.enumValues[0];
  return insertFrom(
    db,
    importTurns,
    {
      repositoryId: sql`id`,
      accountId: sql`coalesce(account_id, 0)`,
      patience: quick,
      askedAt: now,
      tries: 0,
    },
    sql`FROM repositories WHERE id IN ${fromJson(repositoryIds)}`,
  )
    .onConflictDoUpdate({
      target: importTurns.repositoryId,
      set: { askedAt: sql`CASE WHEN sent_at IS NULL THEN asked_at ELSE excluded.asked_at END` },
    })
    .returning({ accountId: importTurns.accountId, patience: importTurns.patience });
}

/**
 * Starts the turn of the next import of a queue, unless another import has the turn. Returns the import's repository.
 */
export async function acquireSlot(db: Database, queue: ImportQueue, now: Date): Promise<number | undefined> {
  const isQueued = sql`account_id = ${queue.accountId} AND patience = ${queue.patience}`;
  const [taken] = await db
    .update(importTurns)
    .set({ sentAt: now })
    .where(
      sql`repository_id = (SELECT repository_id FROM import_turns WHERE ${isQueued} AND sent_at IS NULL
                           ORDER BY asked_at, repository_id LIMIT 1)
          AND NOT EXISTS (SELECT 1 FROM import_turns WHERE ${isQueued} AND sent_at IS NOT NULL)`,
    )
    .returning({ repositoryId: importTurns.repositoryId });
  return taken?.repositoryId;
}

/**
 * Counts a try and takes the lease. `busy` if another consumer has the lease; undefined if the import is in no queue.
 */
export async function beginTry(
  db: Database,
  repositoryId: number,
  { now, leaseEndsAt }: { now: Date; leaseEndsAt: Date },
): Promise<ImportTurn | "busy" | undefined> {
  const same = eq(importTurns.repositoryId, repositoryId);
  const [begun] = await db
    .update(importTurns)
    .set({ tries: sql`tries + 1`, sentAt: now, leaseEndsAt })
    .where(and(same, or(isNull(importTurns.leaseEndsAt), lte(importTurns.leaseEndsAt, now))))
    .returning();
  return begun ?? ((await db.query.importTurns.findFirst({ where: same })) && "busy");
}

/**
 * A consumer's lease on a turn. Its end identifies it, because another consumer's lease ends later. It has several
 * possible ends while it is unknown which renewal took effect.
 */
export interface ImportLease {
  repositoryId: number;
  ends: readonly Date[];
}

const isHeld = ({ repositoryId, ends }: ImportLease) =>
  and(eq(importTurns.repositoryId, repositoryId), inArray(importTurns.leaseEndsAt, [...ends]));

/** False if the consumer has lost its lease. */
export async function renewTry(db: Database, lease: ImportLease, leaseEndsAt: Date): Promise<boolean> {
  const renewed = await db
    .update(importTurns)
    .set({ leaseEndsAt })
    .where(isHeld(lease))
    .returning({ id: importTurns.repositoryId });
  return renewed.length > 0;
}

/** Records that a try failed. Its message is delivered again, so the import keeps its turn. */
export const endTry = (db: Database, lease: ImportLease) =>
  db.update(importTurns).set({ leaseEndsAt: null }).where(isHeld(lease));

/**
 * Ends the turn of an import that began at that moment, unless the consumer has lost its lease. If the import was
 * requested again since, it goes to the end of the queue.
 */
export async function endTurn(db: Database, lease: ImportLease, begunAt: Date): Promise<void> {
  await endTurnWhere(db, isHeld(lease), begunAt);
}

/** Ends a turn that no consumer holds. */
export async function endLostTurn(db: Database, repositoryId: number, now: Date): Promise<void> {
  const isFree = or(isNull(importTurns.leaseEndsAt), lte(importTurns.leaseEndsAt, now));
  await endTurnWhere(db, and(eq(importTurns.repositoryId, repositoryId), isFree), now);
}

async function endTurnWhere(db: Database, isTurn: SQL | undefined, begunAt: Date): Promise<void> {
  await db.batch([
    db.delete(importTurns).where(and(isTurn, lte(importTurns.askedAt, begunAt))),
    db
      .update(importTurns)
      .set({ patience: "quick", ...waiting, tries: 0 })
      .where(isTurn),
  ]);
}

/** Moves an import to the other queue of its account. */
export const moveToPatient = (db: Database, lease: ImportLease) =>
  db
    .update(importTurns)
    .set({ patience: "patient", ...waiting, tries: 0 })
    .where(isHeld(lease));

/** Makes an import wait again, because its message was not sent. */
export const releaseSlot = (db: Database, repositoryId: number) =>
  db.update(importTurns).set(waiting).where(eq(importTurns.repositoryId, repositoryId));

/** Makes imports wait again whose consumer died, or whose message was sent before that moment and never arrived. */
export const releaseLostSlots = (db: Database, { now, sentBefore }: { now: Date; sentBefore: Date }) =>
  db.batch([
    db.update(importTurns).set(waiting).where(lt(importTurns.leaseEndsAt, now)),
    db
      .update(importTurns)
      .set(waiting)
      .where(and(lt(importTurns.sentAt, sentBefore), isNull(importTurns.leaseEndsAt))),
  ]);

/** Makes all imports wait again, because no message and no consumer is left. */
export const giveAllTurnsBack = (db: Database) =>
  db.update(importTurns).set(waiting).where(isNotNull(importTurns.sentAt));

/** Queues in which an import is waiting and none has the turn. */
export const listQueues = (db: Database, limit: number): Promise<ImportQueue[]> =>
  db
    .selectDistinct({ accountId: importTurns.accountId, patience: importTurns.patience })
    .from(importTurns)
    .where(
      sql`sent_at IS NULL AND NOT EXISTS (SELECT 1 FROM import_turns AS sent
            WHERE sent.account_id = ${importTurns.accountId} AND sent.patience = ${importTurns.patience} AND sent.sent_at IS NOT NULL)`,
    )
    .limit(limit);
