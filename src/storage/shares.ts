import { and, asc, eq, sql } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { accounts, shares } from "./schema.ts";

/** Names of the accounts that an appliance is shared with, in the order in which they were added. */
export async function listReaders(db: Database, applianceId: number): Promise<string[]> {
  const rows = await db
    .select({ username: accounts.username })
    .from(shares)
    .innerJoin(accounts, eq(accounts.id, shares.accountId))
    .where(eq(shares.applianceId, applianceId))
    .orderBy(asc(shares.createdAt), asc(shares.accountId));
  return rows.map(({ username }) => username);
}

/** Does nothing if it is shared already, or if the appliance no longer exists. */
export async function addReader(db: Database, applianceId: number, accountId: number): Promise<void> {
  await db.batch([
    db
      .insert(shares)
      .select(
        sql`SELECT ${applianceId}, ${accountId}, ${Date.now()} WHERE EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId})`,
      )
      .onConflictDoNothing(),
    ...entryOfAct(db),
  ]);
}

export async function removeReader(db: Database, applianceId: number, accountId: number): Promise<void> {
  await db.batch([
    db.delete(shares).where(and(eq(shares.applianceId, applianceId), eq(shares.accountId, accountId))),
    ...entryOfAct(db),
  ]);
}
