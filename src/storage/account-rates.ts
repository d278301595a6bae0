import { sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accountRates } from "./schema.ts";

/** Counts one use, unless this window has the maximum already; returns whether it was counted. */
export async function countUse(
  db: Database,
  { most, ...use }: { accountId: number; what: string; window: number; most: number },
): Promise<boolean> {
  const isNewWindow = sql`${accountRates.window} <> excluded.window_number`;
  const counted = await db
    .insert(accountRates)
    .values({ ...use, uses: 1 })
    .onConflictDoUpdate({
      target: [accountRates.accountId, accountRates.what],
      set: { uses: sql`CASE WHEN ${isNewWindow} THEN 1 ELSE ${accountRates.uses} + 1 END`, window: use.window },
      setWhere: sql`${isNewWindow} OR ${accountRates.uses} < ${most}`,
    })
    .returning({ uses: accountRates.uses });
  return counted.length > 0;
}
