import { and, asc, desc, eq, isNull, lt, or, sql } from "drizzle-orm";
import type { Account } from "./accounts.ts";
import type { Appliance } from "./appliances.ts";
import { entryOfAct } from "./audit-log.ts";
import { prepared, type Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { accounts, appliances, tokens } from "./schema.ts";

export type Token = typeof tokens.$inferSelect;
export type NewToken = Omit<Token, "id" | "lastUsedAt">;

/** Undefined if the account has reached its limit. One statement, so that simultaneous requests cannot exceed it. */
export async function addToken(db: Database, row: NewToken, most: number): Promise<Token | undefined> {
  const [[added]] = await db.batch([
    insertWhere(db, tokens, row, sql`${counts.tokens(row.accountId)} < ${most}`).returning(),
    ...entryOfAct(db, { detail: (given) => sql`json_set(${given}, '$.token_id', last_insert_rowid())` }),
  ]);
  return added;
}

const byHmac = prepared((db) =>
  db
    .select({ token: tokens, account: accounts })
    .from(tokens)
    .innerJoin(accounts, and(eq(accounts.id, tokens.accountId), isNull(accounts.removedAt)))
    .where(eq(tokens.tokenHmac, sql.placeholder("tokenHmac")))
    .prepare(),
);

/** A token and its account. */
export async function findTokenByHmac(
  db: Database,
  tokenHmac: string,
): Promise<{ token: Token; account: Account } | undefined> {
  const [found] = await byHmac(db).execute({ tokenHmac });
  return found;
}

export const listTokens = (db: Database, accountId: number) =>
  db.select().from(tokens).where(eq(tokens.accountId, accountId)).orderBy(asc(tokens.id));

/** An appliance that a token may be limited to. */
export type Reachable = Pick<Appliance, "id" | "name">;

/** The appliances that a token of the account may be limited to, the latest edited first. */
export const listReachable = (db: Database, accountId: number, most: number) =>
  db
    .select({ id: appliances.id, name: appliances.name })
    .from(appliances)
    .where(eq(appliances.accountId, accountId))
    .orderBy(desc(appliances.lastEditedAt), desc(appliances.id))
    .limit(most);

/** Gives a new secret to the token that was created by a request. Undefined if there is no such token. */
export async function saveTokenHmac(db: Database, uid: string, tokenHmac: string): Promise<Token | undefined> {
  const [saved] = await db.update(tokens).set({ tokenHmac }).where(eq(tokens.uid, uid)).returning();
  return saved;
}

/** Records the use of a token. Only one of many simultaneous requests writes. */
export async function noteTokenUse(db: Database, id: number, { at, unlessSince }: { at: Date; unlessSince: Date }) {
  const isDue = or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, unlessSince));
  await db
    .update(tokens)
    .set({ lastUsedAt: at })
    .where(and(eq(tokens.id, id), isDue));
}

export async function hasToken(db: Database, id: number): Promise<boolean> {
  const found = await db.query.tokens.findFirst({ where: eq(tokens.id, id), columns: { id: true } });
  return found !== undefined;
}

/** The account that owns a token. */
export async function findTokenOwner(db: Database, id: number): Promise<Account | undefined> {
  const owner = db.select({ id: tokens.accountId }).from(tokens).where(eq(tokens.id, id));
  return await db.query.accounts.findFirst({ where: eq(accounts.id, owner) });
}

/** Undefined if the account has no such token. */
export async function deleteToken(db: Database, accountId: number, id: number): Promise<Token | undefined> {
  const isIt = and(eq(tokens.id, id), eq(tokens.accountId, accountId));
  const [[gone]] = await db.batch([db.delete(tokens).where(isIt).returning(), ...entryOfAct(db, { accountId })]);
  return gone;
}
