import { and, eq, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { appliances } from "./schema.ts";

/**
 * The time of an edit of an appliance, for its `lastEditedAt`. Always later than the previous one, even within a
 * millisecond.
 */
export const nextEdit = (): SQL => sql`max(${Date.now()}, ${appliances.lastEditedAt} + 1)`;

/** Marks the appliance as edited if `when` is true: a statement for the batch of the edit. */
export const edited = (db: Database, applianceId: number, when?: SQL) =>
  db
    .update(appliances)
    .set({ lastEditedAt: nextEdit() })
    .where(and(eq(appliances.id, applianceId), when));
