import { sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accountRates } from "./schema.ts";

/** Counts one or more uses, unless this window has reached the maximum. Returns whether they were counted. */
export async function countUse(
  db: Database,
  { most, uses = 1, ...use }: { accountId: number; what: string; window: number; most: number; uses?: number },
): Promise<boolean> {
  const isNewWindow = sql`${accountRates.window} <> excluded.window_number`;
  const counted = await db
    .insert(accountRates)
    .values({ ...use, uses })
    .onConflictDoUpdate({
      target: [accountRates.accountId, accountRates.what],
      set: {
        uses: sql`CASE WHEN ${isNewWindow} THEN ${uses} ELSE ${accountRates.uses} + ${uses} END`,
        window: use.window,
      },
      setWhere: sql`${isNewWindow} OR ${accountRates.uses} < ${most}`,
    })
    .returning({ uses: accountRates.uses });
  return counted.length > 0;
}
