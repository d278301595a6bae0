import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { accounts, auditLog } from "./schema.ts";

export type AuditEntry = typeof auditLog.$inferSelect;
export type NewAuditEntry = Omit<AuditEntry, "id" | "count">;

/** More in one minute are not counted, and so not written. */
const mostCounted = 1000;
const again = {
  target: [auditLog.accountId, auditLog.minute, auditLog.event, auditLog.actor, auditLog.detail],
  set: { count: sql`${auditLog.count} + 1` },
  setWhere: lt(auditLog.count, mostCounted),
};

export async function addAuditEntry(db: Database, entry: NewAuditEntry): Promise<void> {
  await db.insert(auditLog).values(entry).onConflictDoUpdate(again);
}

/** The same for the account of that name, if there is one. */
export async function addAuditEntryOf(
  db: Database,
  username: string,
  entry: Omit<NewAuditEntry, "accountId">,
): Promise<void> {
  const row = { ...entry, accountId: sql`accounts.id`, count: 1 };
  const from = sql`FROM ${accounts} WHERE username = ${username} AND removed_at IS NULL`;
  await insertFrom(db, auditLog, row, from).onConflictDoUpdate(again);
}

/** The latest first; `before`: only entries with a smaller id. Without an account: of all of them, and of none. */
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

/** Deletes the oldest of those from before that moment; answers how many. */
export async function deleteAuditBefore(db: Database, before: Date, limit: number): Promise<number> {
  const old = sql`(SELECT id FROM audit_log WHERE at < ${before.getTime()} ORDER BY at LIMIT ${limit})`;
  const gone = await db
    .delete(auditLog)
    .where(sql`id IN ${old}`)
    .returning({ id: auditLog.id });
  return gone.length;
}
