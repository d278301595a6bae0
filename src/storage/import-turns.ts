import { and, eq, isNotNull, isNull, lt, lte, or, sql } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { importTurns } from "./schema.ts";

export type ImportTurn = typeof importTurns.$inferSelect;

const waiting = { sentAt: null, leaseEndsAt: null };

/** What takes its turn: of these one import at a time is in a queue. */
export type Line = Pick<ImportTurn, "accountId" | "patience">;

/** Puts imports in line, each after those of its account. One that already waits keeps its place. */
export async function askForImports(db: Database, repositoryIds: readonly number[], now: Date): Promise<Line[]> {
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

/** Gives the next of a line its turn, unless another has it. Answers the repository. */
export async function takeTurn(db: Database, line: Line, now: Date): Promise<number | undefined> {
  const inLine = sql`account_id = ${line.accountId} AND patience = ${line.patience}`;
  const [taken] = await db
    .update(importTurns)
    .set({ sentAt: now })
    .where(
      sql`repository_id = (SELECT repository_id FROM import_turns WHERE ${inLine} AND sent_at IS NULL
                           ORDER BY asked_at, repository_id LIMIT 1)
          AND NOT EXISTS (SELECT 1 FROM import_turns WHERE ${inLine} AND sent_at IS NOT NULL)`,
    )
    .returning({ repositoryId: importTurns.repositoryId });
  return taken?.repositoryId;
}

/** Counts a try, and takes the lease. `busy`: another consumer has it. Undefined: the import is in no line. */
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

export const renewTry = (db: Database, repositoryId: number, leaseEndsAt: Date) =>
  db
    .update(importTurns)
    .set({ leaseEndsAt })
    .where(and(eq(importTurns.repositoryId, repositoryId), isNotNull(importTurns.leaseEndsAt)));

/** The try failed. Its message comes again, so the turn stays. */
export const endTry = (db: Database, repositoryId: number) =>
  db.update(importTurns).set({ leaseEndsAt: null }).where(eq(importTurns.repositoryId, repositoryId));

/** Ends the turn of an import that began at that moment; one that has been asked for since goes to the end of the line. */
export async function endTurn(db: Database, repositoryId: number, begunAt: Date): Promise<void> {
  const same = eq(importTurns.repositoryId, repositoryId);
  await db.batch([
    db.delete(importTurns).where(and(same, lte(importTurns.askedAt, begunAt))),
    db
      .update(importTurns)
      .set({ patience: "quick", ...waiting, tries: 0 })
      .where(same),
  ]);
}

/** Lets it wait for a turn in the other line of its account. */
export const moveToPatient = (db: Database, repositoryId: number) =>
  db
    .update(importTurns)
    .set({ patience: "patient", ...waiting, tries: 0 })
    .where(eq(importTurns.repositoryId, repositoryId));

/** Lets it wait again: its message was not sent. */
export const giveTurnBack = (db: Database, repositoryId: number) =>
  db.update(importTurns).set(waiting).where(eq(importTurns.repositoryId, repositoryId));

/** Lets all wait again whose consumer died, or whose message was sent before that moment and has not come. */
export const giveLostTurnsBack = (db: Database, { now, sentBefore }: { now: Date; sentBefore: Date }) =>
  db.batch([
    db.update(importTurns).set(waiting).where(lt(importTurns.leaseEndsAt, now)),
    db
      .update(importTurns)
      .set(waiting)
      .where(and(lt(importTurns.sentAt, sentBefore), isNull(importTurns.leaseEndsAt))),
  ]);

/** Lets all wait again: no message and no consumer is left. */
export const giveAllTurnsBack = (db: Database) =>
  db.update(importTurns).set(waiting).where(isNotNull(importTurns.sentAt));

/** Lines in which an import waits and none has its turn. */
export const listLines = (db: Database, limit: number): Promise<Line[]> =>
  db
    .selectDistinct({ accountId: importTurns.accountId, patience: importTurns.patience })
    .from(importTurns)
    .where(
      sql`sent_at IS NULL AND NOT EXISTS (SELECT 1 FROM import_turns AS sent
            WHERE sent.account_id = ${importTurns.accountId} AND sent.patience = ${importTurns.patience} AND sent.sent_at IS NOT NULL)`,
    )
    .limit(limit);
