import { and, eq, ne, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accounts, appliances, idempotentAnswers, testdrives, webhooks } from "./schema.ts";

/** Every column with values encrypted by the service's key, and how to replace a value. Their tables have rowids. */
const columns = {
  "API keys": {
    column: accounts.apiKeyCipher,
    put: (db: Database, apiKeyCipher: string) => db.update(accounts).set({ apiKeyCipher }),
  },
  "secrets of webhooks": {
    column: webhooks.secretCipher,
    put: (db: Database, secretCipher: string) => db.update(webhooks).set({ secretCipher }),
  },
  "pages of testdrives": {
    column: testdrives.pageToken,
    put: (db: Database, pageToken: string) => db.update(testdrives).set({ pageToken }),
  },
  "web servers of testdrives": {
    column: testdrives.webToken,
    put: (db: Database, webToken: string) => db.update(testdrives).set({ webToken }),
  },
  "stored answers": {
    column: idempotentAnswers.body,
    put: (db: Database, body: string) => db.update(idempotentAnswers).set({ body }),
  },
  configurations: {
    column: appliances.configuration,
    put: (db: Database, json: string) => db.update(appliances).set({ configuration: sql`${json}` }),
  },
} as const;

export type EncryptedColumn = keyof typeof columns;
export const encryptedColumns: readonly EncryptedColumn[] = [
  "API keys",
  "secrets of webhooks",
  "pages of testdrives",
  "web servers of testdrives",
  "stored answers",
  "configurations",
];

/** A position in a walk through a column. The walk continues after this row. */
export interface WalkCursor {
  column: EncryptedColumn;
  after: number;
}

/** An encrypted value as its row stores it; configurations are JSON. */
export interface EncryptedValue {
  row: number;
  stored: string;
}

export const pageOfEncrypted = (db: Database, place: WalkCursor, limit: number): Promise<EncryptedValue[]> =>
  db.all<EncryptedValue>(
    sql`SELECT rowid AS row, ${columns[place.column].column} AS stored ${from(place)} ORDER BY rowid LIMIT ${limit}`,
  );

/** Counts the values after these positions. */
export async function countEncrypted(db: Database, places: readonly WalkCursor[]): Promise<number> {
  const counts = places.map((place) => sql`(SELECT count(*) ${from(place)})`);
  return (await db.get<{ left: number }>(sql`SELECT ${sql.join(counts, sql` + `)} AS left`)).left;
}

function from({ column: name, after }: WalkCursor): SQL {
  const { column } = columns[name];
  return sql`FROM ${column.table} WHERE rowid > ${after} AND ${column} IS NOT NULL`;
}

/** Overwrites the values that were read. A value that a request has changed since then is kept. */
export async function saveEncrypted(
  db: Database,
  name: EncryptedColumn,
  changed: readonly (EncryptedValue & { again: string })[],
): Promise<void> {
  const { column, put } = columns[name];
  const [first, ...more] = changed.map(({ row, stored, again }) =>
    put(db, again).where(sql`rowid = ${row} AND ${column} = ${stored}`),
  );
  if (first) await db.batch([first, ...more]);
}

/** Replaces the HMACs of API keys that have changed. Returns their number. */
export async function saveApiKeyHmacs(
  db: Database,
  keys: readonly (EncryptedValue & { hmac: string })[],
): Promise<number> {
  const [first, ...more] = keys.map(({ row, stored, hmac }) =>
    db
      .update(accounts)
      .set({ apiKeyHmac: hmac })
      .where(and(eq(accounts.id, row), eq(accounts.apiKeyCipher, stored), ne(accounts.apiKeyHmac, hmac)))
      .returning({ id: accounts.id }),
  );
  return first ? (await db.batch([first, ...more])).flat().length : 0;
}
