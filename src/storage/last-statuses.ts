import { sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { lastStatuses } from "./schema.ts";

export type LastStatus = typeof lastStatuses.$inferSelect;

/** Stores the results of examinations. Skips appliances that are gone or have the result of a later examination. */
export async function saveLastStatuses(db: Database, statuses: readonly LastStatus[]): Promise<void> {
  const rows = statuses.map(({ editedAt, examinedAt, ...status }) => ({
    ...status,
    editedAt: editedAt.getTime(),
    examinedAt: examinedAt.getTime(),
  }));
  await insertFrom(
    db,
    lastStatuses,
    {
      applianceId: sql`value ->> 'applianceId'`,
      errors: sql`value ->> 'errors'`,
      warnings: sql`value ->> 'warnings'`,
      text: sql`value ->> 'text'`,
      packages: sql`value ->> 'packages'`,
      editedAt: sql`value ->> 'editedAt'`,
      examinedAt: sql`value ->> 'examinedAt'`,
    },
    sql`FROM json_each(${JSON.stringify(rows)})
      WHERE EXISTS (SELECT 1 FROM appliances WHERE appliances.id = value ->> 'applianceId')`,
  ).onConflictDoUpdate({
    target: lastStatuses.applianceId,
    set: fromNewRow(lastStatuses, ["errors", "warnings", "text", "packages", "editedAt", "examinedAt"]),
    setWhere: sql`${lastStatuses.examinedAt} < excluded.examined_at`,
  });
}
