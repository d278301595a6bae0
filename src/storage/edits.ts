import { and, eq, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { appliances } from "./schema.ts";

/** The moment of an edit of an appliance, for its `lastEditedAt`: each is later than the one before, also within a millisecond. */
export const nextEdit = (): SQL => sql`max(${Date.now()}, ${appliances.lastEditedAt} + 1)`;

/** The appliance was edited, if `when` holds. Goes into the batch of the edit. */
export const edited = (db: Database, applianceId: number, when?: SQL) =>
  db
    .update(appliances)
    .set({ lastEditedAt: nextEdit() })
    .where(and(eq(appliances.id, applianceId), when));
