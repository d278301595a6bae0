import { eq, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accounts } from "./schema.ts";

export type Account = typeof accounts.$inferSelect;
export type NewAccount = typeof accounts.$inferInsert;

/** Undefined when the name is taken; the unique index decides between two at once. */
export async function addAccount(db: Database, account: NewAccount): Promise<Account | undefined> {
  const [added] = await db.insert(accounts).values(account).onConflictDoNothing().returning();
  return added;
}

export const findAccount = (db: Database, username: string): Promise<Account | undefined> =>
  db.query.accounts.findFirst({ where: eq(accounts.username, username) });

export const listAccounts = (db: Database): Promise<Account[]> => db.query.accounts.findMany({ orderBy: accounts.id });

/** Replaces the API key; the old one is unknown from the next request on. */
export async function saveApiKey(
  db: Database,
  accountId: number,
  key: { hmac: string; cipher: string },
): Promise<void> {
  await db.update(accounts).set({ apiKeyHmac: key.hmac, apiKeyCipher: key.cipher }).where(eq(accounts.id, accountId));
}

/** Bytes that an account keeps: its images and its uploads. */
export async function usedBytes(db: Database, accountId: number): Promise<number> {
  const row = await db.get<{ bytes: number }>(sql`SELECT ${usedBytesOf(accountId)} AS bytes`);
  return row.bytes;
}

/** The same as an expression, for statements that must not exceed the quota. */
export const usedBytesOf = (accountId: number): SQL =>
  sql`((SELECT coalesce(sum(file_size), 0) FROM builds WHERE account_id = ${accountId} AND retired_at IS NULL)
     + (SELECT coalesce(sum(stored_bytes), 0) FROM rpms WHERE account_id = ${accountId}))`;
