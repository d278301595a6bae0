import { and, desc, eq, lt, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { accounts, auditLog } from "./schema.ts";

export type AuditEntry = typeof auditLog.$inferSelect;
export type NewAuditEntry = Omit<AuditEntry, "id" | "count">;

/** More entries of one kind in a minute are neither counted nor written. */
const maxCount = 1000;
const again = {
  target: [auditLog.accountId, auditLog.minute, auditLog.event, auditLog.actor, auditLog.detail],
  set: { count: sql`${auditLog.count} + 1` },
  setWhere: lt(auditLog.count, maxCount),
};

/** The audit entry for the next act that uses this database. */
const given = new WeakMap<Database, NewAuditEntry>();

/**
 * Returns the same database, for an act that the audit log records. The act's batch also writes the entry: see
 * `entryOfAct`.
 */
export function withAuditEntry(db: Database, entry: NewAuditEntry): Database {
  const acting: Database = Object.create(db);
  given.set(acting, entry);
  return acting;
}

/** The parts of an audit entry that only the act knows. */
interface Known {
  accountId?: number | SQL;
  detail?: (given: SQL) => SQL;
  /** Whether the act was done. By default, whether the previous statement has changed a row. */
  when?: SQL;
}

/**
 * Writes the entry of `withAuditEntry`. It belongs in the act's batch, after the statement that decides about the act.
 */
export function entryOfAct(db: Database, { accountId, detail, when = sql`changes() > 0` }: Known = {}) {
  const entry = given.get(db);
  if (!entry) return [];
  const row = {
    ...entry,
    accountId: accountId ?? entry.accountId,
    detail: detail?.(sql`${JSON.stringify(entry.detail)}`) ?? entry.detail,
    count: 1,
  };
  return [insertFrom(db, auditLog, row, sql`WHERE ${when}`).onConflictDoUpdate(again)];
}

export async function addAuditEntry(db: Database, entry: NewAuditEntry): Promise<void> {
  await db.insert(auditLog).values(entry).onConflictDoUpdate(again);
}

/** Writes an entry for the account of that name, if there is one. */
export async function addAuditEntryOf(
  db: Database,
  username: string,
  entry: Omit<NewAuditEntry, "accountId">,
): Promise<void> {
  const row = { ...entry, accountId: sql`accounts.id`, count: 1 };
  const from = sql`FROM ${accounts} WHERE username = ${username} AND removed_at IS NULL`;
  await insertFrom(db, auditLog, row, from).onConflictDoUpdate(again);
}

/**
 * Entries, latest first; with `before`, only those with a smaller id. Without an account, the entries of all accounts
 * and those that belong to none.
 */
export const listAuditLog = (
  db: Database,
  { accountId, before, limit }: { accountId?: number | undefined; before?: number | undefined; limit: number },
): Promise<(AuditEntry & { username: string | null })[]> =>
  db
    .select({
      id: auditLog.id,
      accountId: auditLog.accountId,
      event: auditLog.event,
      actor: auditLog.actor,
      detail: auditLog.detail,
      address: auditLog.address,
      at: auditLog.at,
      minute: auditLog.minute,
      count: auditLog.count,
      username: accounts.username,
    })
    .from(auditLog)
    .leftJoin(accounts, eq(accounts.id, auditLog.accountId))
    .where(
      and(
        accountId === undefined ? undefined : eq(auditLog.accountId, accountId),
        before === undefined ? undefined : lt(auditLog.id, before),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit);

/** Deletes the oldest entries from before that moment. Returns their number. */
export async function deleteAuditBefore(db: Database, before: Date, limit: number): Promise<number> {
  const old = sql`(SELECT id FROM audit_log WHERE at < ${before.getTime()} ORDER BY at LIMIT ${limit})`;
  const gone = await db
    .delete(auditLog)
    .where(sql`id IN ${old}`)
    .returning({ id: auditLog.id });
  return gone.length;
}
