import { and, eq, isNull, sql, type SQL } from "drizzle-orm";
import type { Account } from "./accounts.ts";
import type { Appliance } from "./appliances.ts";
import type { Repository } from "./repositories.ts";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { relisted } from "./gallery-listings.ts";
import { sessionsOf } from "./sessions.ts";
import {
  accounts,
  agreements,
  appliances,
  comments,
  eventOutbox,
  galleryUses,
  idempotentAnswers,
  publications,
  ratings,
  repositories,
  rpms,
  shares,
  testdrives,
  tokens,
  webhooks,
} from "./schema.ts";

/** Marks an account as removed: it can no longer sign in or be found by name. Safe to repeat. */
export async function markRemoved(db: Database, accountId: number, removedAt: Date): Promise<void> {
  await db.batch([
    db
      .update(accounts)
      .set({ removedAt })
      .where(and(eq(accounts.id, accountId), isNull(accounts.removedAt))),
    ...entryOfAct(db),
    sessionsOf(db, accountId),
  ]);
}

/** The next accounts to remove. They move to the end of the queue, so that a removal that fails blocks no other. */
export const takeRemoved = (db: Database, limit: number, now: Date): Promise<Account[]> =>
  db
    .update(accounts)
    .set({ removalTriedAt: now })
    .where(
      sql`id IN (SELECT id FROM accounts WHERE removed_at IS NOT NULL ORDER BY removal_tried_at, id LIMIT ${limit})`,
    )
    .returning();

export const pageOfPublications = (db: Database, accountId: number, limit: number) =>
  db
    .select({ applianceId: publications.applianceId, version: publications.version })
    .from(publications)
    .where(eq(publications.accountId, accountId))
    .limit(limit);

export const pageOfAppliances = (db: Database, accountId: number, limit: number): Promise<Appliance[]> =>
  db.query.appliances.findMany({ where: eq(appliances.accountId, accountId), limit });

export const pageOfRpms = (db: Database, accountId: number, limit: number) =>
  db.select({ id: rpms.id }).from(rpms).where(eq(rpms.accountId, accountId)).limit(limit);

export const pageOfRepositories = (db: Database, accountId: number, limit: number): Promise<Repository[]> =>
  db.query.repositories.findMany({ where: eq(repositories.accountId, accountId), limit });

/** Deletes a page of comments, and returns how many there were. Replies of other accounts stay, without a parent. */
export async function deleteComments(db: Database, accountId: number, limit: number): Promise<number> {
  const page = await db
    .select({ id: comments.id, applianceId: comments.applianceId })
    .from(comments)
    .where(eq(comments.accountId, accountId))
    .limit(limit);
  for (const { id, applianceId } of page) {
    await db.batch([
      db
        .update(comments)
        .set({ parentId: null })
        .where(and(eq(comments.applianceId, applianceId), eq(comments.parentId, id))),
      db.delete(comments).where(eq(comments.id, id)),
    ]);
  }
  return page.length;
}

/** Deletes a page of ratings and uses, and reorders the gallery lists. Returns the number of affected appliances. */
export async function deleteOpinions(db: Database, accountId: number, limit: number): Promise<number> {
  const page = await db.all<{ applianceId: number }>(
    sql`SELECT appliance_id AS applianceId FROM ratings WHERE account_id = ${accountId}
        UNION SELECT appliance_id FROM gallery_uses WHERE account_id = ${accountId} LIMIT ${limit}`,
  );
  for (const { applianceId } of page) {
    await db.batch([
      db.delete(ratings).where(and(eq(ratings.applianceId, applianceId), eq(ratings.accountId, accountId))),
      db.delete(galleryUses).where(and(eq(galleryUses.applianceId, applianceId), eq(galleryUses.accountId, accountId))),
      ...relisted(db, applianceId),
    ]);
  }
  return page.length;
}

/** Deletes a page of rows that an account may have many of and that nothing depends on. Returns their number. */
export async function deleteSmallRows(db: Database, accountId: number, limit: number): Promise<number> {
  const page = (table: SQL, which: SQL) => sql`rowid IN (SELECT rowid FROM ${table} WHERE ${which} LIMIT ${limit})`;
  const own = sql`account_id = ${accountId}`;
  const gone = await db.batch([
    db
      .delete(testdrives)
      .where(page(sql`testdrives`, sql`state = 'ended' AND ${own}`))
      .returning({ one: sql`1` }),
    db
      .delete(shares)
      .where(page(sql`shares`, own))
      .returning({ one: sql`1` }),
    db
      .delete(idempotentAnswers)
      .where(page(sql`idempotent_answers`, own))
      .returning({ one: sql`1` }),
  ]);
  return gone.flat().length;
}

/**
 * The last step: deletes the account itself, and the rows that it has few of. Fails while it has an appliance, a
 * repository or an RPM.
 */
export async function deleteAccountRows(db: Database, accountId: number): Promise<void> {
  await db.batch([
    db.delete(accounts).where(eq(accounts.id, accountId)),
    sessionsOf(db, accountId),
    db.delete(tokens).where(eq(tokens.accountId, accountId)),
    db.delete(webhooks).where(eq(webhooks.accountId, accountId)),
    db.delete(agreements).where(eq(agreements.accountId, accountId)),
    db.delete(eventOutbox).where(eq(eventOutbox.accountId, accountId)),
  ]);
}
