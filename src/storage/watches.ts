import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { watches } from "./schema.ts";

/** When the sweep looks at the images of an appliance next. */
export type Watch = typeof watches.$inferSelect;

/** The appliances that are due, the longest overdue first. They are due again only at `again`. */
export const takeDueWatches = (
  db: Database,
  { now, again, limit }: { now: Date; again: Date; limit: number },
): Promise<Watch[]> =>
  db
    .update(watches)
    .set({ lookAt: again })
    .where(
      sql`appliance_id IN (SELECT appliance_id FROM watches WHERE look_at <= ${now.getTime()} ORDER BY look_at LIMIT ${limit})`,
    )
    .returning();

/** Sets when the sweep looks again, unless another change has set it since the appliance was taken. */
export async function saveNextLook(db: Database, { applianceId, lookAt: taken }: Watch, next: Date): Promise<void> {
  await db
    .update(watches)
    .set({ lookAt: next })
    .where(and(eq(watches.applianceId, applianceId), eq(watches.lookAt, taken)));
}
