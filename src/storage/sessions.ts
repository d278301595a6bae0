import { and, asc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import { prepared, type Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { accounts, appliances, sessions } from "./schema.ts";
import { settingIn } from "./service-settings.ts";

export type Session = typeof sessions.$inferSelect;
/** The `Account` of accounts.ts. It cannot be imported, because that file imports this one. */
type Account = typeof accounts.$inferSelect;
type NewSession = Omit<Session, "id" | "accountId">;

/**
 * Signs a browser in, and ends the oldest sessions beyond the account's limit. False if the credentials have changed
 * since they were checked, or the account was locked or removed.
 */
export async function addSession(db: Database, account: Account, row: NewSession, most: number): Promise<boolean> {
  const { id: accountId, passwordHash, apiKeyHmac } = account;
  const isUnchanged = sql`EXISTS (SELECT 1 FROM accounts WHERE id = ${accountId} AND password_hash = ${passwordHash}
    AND api_key_hmac = ${apiKeyHmac} AND locked_at IS NULL AND removed_at IS NULL)`;
  const [added] = await db.batch([
    insertWhere(db, sessions, { ...row, accountId }, isUnchanged).returning({ id: sessions.id }),
    ...entryOfAct(db, { detail: (given) => sql`json_set(${given}, '$.session_id', last_insert_rowid())` }),
    db
      .delete(sessions)
      .where(
        sql`id IN (SELECT id FROM sessions WHERE account_id = ${accountId} ORDER BY id DESC LIMIT -1 OFFSET ${most})`,
      ),
  ]);
  return added.length > 0;
}

const byHmac = prepared((db) =>
  db
    .select({
      session: sessions,
      account: accounts,
      appliance: appliances,
      settings: { read_only: settingIn("read_only"), read_only_message: settingIn("read_only_message") },
    })
    .from(sessions)
    .innerJoin(
      accounts,
      and(eq(accounts.id, sessions.accountId), isNull(accounts.removedAt), isNull(accounts.lockedAt)),
    )
    .leftJoin(appliances, and(eq(appliances.id, sql.placeholder("applianceId")), eq(appliances.accountId, accounts.id)))
    .where(eq(sessions.secretHmac, sql.placeholder("secretHmac")))
    .prepare(),
);

interface FoundSession {
  session: Session;
  account: Account;
  /** The appliance that the request is about, if the account owns it. */
  appliance: typeof appliances.$inferSelect | null;
  /** Read here because every page needs them. */
  settings: Record<"read_only" | "read_only_message", string | null>;
}

/** A session, its account, and an appliance of that account. Finds expired sessions, too. */
export async function findSessionByHmac(
  db: Database,
  secretHmac: string,
  applianceId: number | null,
): Promise<FoundSession | undefined> {
  const [found] = await byHmac(db).execute({ secretHmac, applianceId });
  return found;
}

export const listSessions = (db: Database, accountId: number, now: Date): Promise<Session[]> =>
  db.query.sessions.findMany({
    where: and(eq(sessions.accountId, accountId), gt(sessions.expiresAt, now)),
    orderBy: asc(sessions.id),
  });

/** Records the use of a session. Only one of many simultaneous requests writes. */
export async function noteSessionUse(
  db: Database,
  id: number,
  { at, expiresAt, unlessSince }: { at: Date; expiresAt: Date; unlessSince: Date },
): Promise<void> {
  await db
    .update(sessions)
    .set({ lastUsedAt: at, expiresAt })
    .where(and(eq(sessions.id, id), lt(sessions.lastUsedAt, unlessSince)));
}

/** Ends a session by the secret of its cookie. */
export async function deleteSessionByHmac(db: Database, secretHmac: string): Promise<void> {
  await db.delete(sessions).where(eq(sessions.secretHmac, secretHmac));
}

/** False if the account has no such session. */
export async function deleteSession(db: Database, accountId: number, id: number): Promise<boolean> {
  const isIt = and(eq(sessions.id, id), eq(sessions.accountId, accountId));
  const [gone] = await db.batch([db.delete(sessions).where(isIt).returning({ id: sessions.id }), ...entryOfAct(db)]);
  return gone.length > 0;
}

export async function deleteSessions(db: Database, accountId: number): Promise<void> {
  await db.batch([sessionsOf(db, accountId), ...entryOfAct(db)]);
}

/** Deletes an account's sessions, as a statement for the batch of the act that ends them. */
export const sessionsOf = (db: Database, accountId: number) =>
  db.delete(sessions).where(eq(sessions.accountId, accountId));

/** Deletes expired sessions, the earliest expired first. Returns their number. */
export async function deleteExpiredSessions(db: Database, now: Date, limit: number): Promise<number> {
  const expired = sql`(SELECT id FROM sessions WHERE expires_at <= ${now.getTime()} ORDER BY expires_at LIMIT ${limit})`;
  const gone = await db
    .delete(sessions)
    .where(sql`id IN ${expired}`)
    .returning({ id: sessions.id });
  return gone.length;
}
