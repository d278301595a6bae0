import { and, asc, eq, getTableColumns, gt, isNull, ne, sql, type SQL } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import { fromJson, prepared, type Database } from "./db.ts";
import { accounts, appliances } from "./schema.ts";
import { sessionsOf } from "./sessions.ts";

export type Account = typeof accounts.$inferSelect;
export type NewAccount = typeof accounts.$inferInsert;

/** Undefined if the name is taken. The unique index decides between two simultaneous requests. */
export async function addAccount(db: Database, account: NewAccount): Promise<Account | undefined> {
  const [[added]] = await db.batch([
    db.insert(accounts).values(account).onConflictDoNothing().returning(),
    ...entryOfAct(db, { accountId: sql`last_insert_rowid()` }),
  ]);
  return added;
}

const byUsername = prepared((db) =>
  db.query.accounts
    .findFirst({ where: and(eq(accounts.username, sql.placeholder("username")), isNull(accounts.removedAt)) })
    .prepare(),
);

export const findAccount = (db: Database, username: string): Promise<Account | undefined> =>
  byUsername(db).execute({ username });

/** The account that owns an appliance. */
export async function findOwner(db: Database, applianceId: number): Promise<Account | undefined> {
  const [found] = await db
    .select({ account: accounts })
    .from(appliances)
    .innerJoin(accounts, eq(accounts.id, appliances.accountId))
    .where(and(eq(appliances.id, applianceId), isNull(accounts.removedAt)));
  return found?.account;
}

export const listAccounts = (db: Database): Promise<Account[]> =>
  db.query.accounts.findMany({ where: isNull(accounts.removedAt), orderBy: accounts.id });

/** Saves a new password's hash and ends the account's sessions. */
export async function savePasswordHash(db: Database, accountId: number, passwordHash: string): Promise<void> {
  await db.batch([
    db.update(accounts).set({ passwordHash }).where(eq(accounts.id, accountId)),
    ...entryOfAct(db),
    sessionsOf(db, accountId),
  ]);
}

/** Locks an account, or unlocks it if `lockedAt` is null. Ends its sessions. */
export async function saveLock(db: Database, accountId: number, lockedAt: Date | null): Promise<void> {
  await db.batch([
    db.update(accounts).set({ lockedAt }).where(eq(accounts.id, accountId)),
    ...entryOfAct(db),
    sessionsOf(db, accountId),
  ]);
}

export async function saveOperator(db: Database, accountId: number, isOperator: boolean): Promise<void> {
  await db.batch([db.update(accounts).set({ isOperator }).where(eq(accounts.id, accountId)), ...entryOfAct(db)]);
}

export async function saveMailsAdvisories(db: Database, accountId: number, mailsAdvisories: boolean): Promise<void> {
  const isOther = and(eq(accounts.id, accountId), ne(accounts.mailsAdvisories, mailsAdvisories));
  await db.batch([db.update(accounts).set({ mailsAdvisories }).where(isOther), ...entryOfAct(db)]);
}

/**
 * The receiver of mails about advisories of an account's images. Undefined if the account has turned mail off, is
 * locked or was removed.
 */
export async function findMailedAccount(db: Database, uid: string): Promise<Account | undefined> {
  return await db.query.accounts.findFirst({
    where: and(
      eq(accounts.uid, uid),
      eq(accounts.mailsAdvisories, true),
      isNull(accounts.lockedAt),
      isNull(accounts.removedAt),
    ),
  });
}

/** Sets the account's disk quota. Null means the default quota. */
export async function saveQuotaGb(db: Database, accountId: number, quotaGb: number | null): Promise<void> {
  await db.batch([db.update(accounts).set({ quotaGb }).where(eq(accounts.id, accountId)), ...entryOfAct(db)]);
}

const quotaById = prepared((db) =>
  db.query.accounts.findFirst({ where: eq(accounts.id, sql.placeholder("id")), columns: { quotaGb: true } }).prepare(),
);

/** Null if the account has the default quota. */
export async function findQuotaGb(db: Database, accountId: number): Promise<number | null> {
  const row = await quotaById(db).execute({ id: accountId });
  return row?.quotaGb ?? null;
}

/**
 * Replaces the API key. The old one stops working immediately, and the account's sessions end, because it may have
 * opened them.
 */
export async function saveApiKey(
  db: Database,
  accountId: number,
  key: { hmac: string; cipher: string },
): Promise<void> {
  await db.batch([
    db.update(accounts).set({ apiKeyHmac: key.hmac, apiKeyCipher: key.cipher }).where(eq(accounts.id, accountId)),
    ...entryOfAct(db),
    sessionsOf(db, accountId),
  ]);
}

export async function usedBytes(db: Database, accountId: number): Promise<number> {
  const row = await db.get<{ bytes: number }>(sql`SELECT ${usedBytesOf(accountId)} AS bytes`);
  return row.bytes;
}

/**
 * The stored bytes by kind: images with their file stores, uploaded packages, unfinished uploads with all that they
 * will store or have reserved, overlay files and pictures.
 */
export interface StoredBytes {
  images: number;
  packages: number;
  uploads: number;
  files: number;
  pictures: number;
}

export const usedBytesByKind = (db: Database, accountId: number): Promise<StoredBytes> => {
  const { images, packages, uploads, files, pictures } = kindsOf(accountId, {});
  return db.get<StoredBytes>(sql`SELECT ${images} AS images, ${packages} AS packages, ${uploads} AS uploads,
    ${files} AS files, ${pictures} AS pictures`);
};

/** A page of the accounts after an id, each with its stored bytes. */
export const pageOfAccounts = (
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<(Account & { usedBytes: number })[]> =>
  db
    .select({ ...getTableColumns(accounts), usedBytes: sql<number>`${usedBytesOf(sql`"accounts"."id"`)}` })
    .from(accounts)
    .where(and(isNull(accounts.removedAt), gt(accounts.id, after)))
    .orderBy(asc(accounts.id))
    .limit(limit);

/**
 * Stored data that a statement will replace: an overlay file (by its id), every picture of one kind of an appliance, or
 * uploads (by their blobs, whose rows will be written).
 */
interface Replaced {
  withoutBlobs?: readonly string[];
  withoutFile?: number;
  withoutLogoOf?: number;
  withoutBackgroundOf?: number;
}

/**
 * An account's stored bytes as an SQL expression, for statements that must not exceed the quota. Does not count data
 * that will be replaced.
 */
export function usedBytesOf(accountId: number | SQL, replaced: Replaced = {}): SQL {
  const { images, packages, uploads, files, pictures } = kindsOf(accountId, replaced);
  return sql`(${images} + ${packages} + ${uploads} + ${files} + ${pictures})`;
}

/** If several appliances and published versions of the account share a content, it counts once. */
const kindsOf = (
  accountId: number | SQL,
  { withoutBlobs = [], withoutFile = 0, withoutLogoOf = 0, withoutBackgroundOf = 0 }: Replaced,
): Record<keyof StoredBytes, SQL> => ({
  // Without the last condition, SQLite would also read the builds that have no image.
  images: sql`(SELECT coalesce(sum(stored_bytes), 0) FROM builds
    WHERE account_id = ${accountId} AND retired_at IS NULL AND expired_at IS NULL AND stored_bytes > 0)`,
  packages: sql`(SELECT coalesce(sum(stored_bytes), 0) FROM rpms WHERE account_id = ${accountId})`,
  // While a resumable upload is being unpacked, it is in both tables.
  uploads: sql`(SELECT coalesce(sum(bytes), 0) FROM (SELECT max(bytes) AS bytes FROM (
    SELECT blob_id, length AS bytes FROM resumable_uploads
    WHERE account_id = ${accountId} AND finished_at IS NULL
    UNION ALL SELECT blob_id, bytes FROM reservations
    WHERE account_id = ${accountId} AND expires_at > ${Date.now()})
    WHERE blob_id NOT IN ${fromJson(withoutBlobs)} GROUP BY blob_id))`,
  files: sql`(SELECT coalesce(sum(size), 0) FROM (
    SELECT blob_id, size FROM overlay_files
    WHERE overlay_files.id <> ${withoutFile}
      AND appliance_id IN (SELECT id FROM appliances WHERE account_id = ${accountId})
    UNION SELECT blob_id, size FROM published_files
    WHERE publication_id IN (SELECT id FROM publications WHERE account_id = ${accountId})))`,
  pictures: sql`(SELECT coalesce(sum(bytes), 0) FROM picture_sizes WHERE blob_id IN (
    SELECT logo_blob FROM appliances WHERE account_id = ${accountId} AND id <> ${withoutLogoOf}
    UNION SELECT background_blob FROM appliances WHERE account_id = ${accountId} AND id <> ${withoutBackgroundOf}
    UNION SELECT logo_blob FROM publications WHERE account_id = ${accountId}
    UNION SELECT background_blob FROM publications WHERE account_id = ${accountId}))`,
});
