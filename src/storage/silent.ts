import { sql, type SQL } from "drizzle-orm";

/** The sweep's request for rows to process. They are returned again only after `wakeAt`. */
export interface Silence {
  now: Date;
  wakeAt: Date;
  limit: number;
}

/**
 * Rows whose objects should have reported that they are alive by now, the longest overdue first. `isLive` must have the
 * same text as the condition of the table's index.
 */
export const isSilentIn = (table: "builds" | "testdrives" | "check_runs", isLive: SQL, { now, limit }: Silence): SQL =>
  sql`id IN (SELECT id FROM ${sql.identifier(table)} INDEXED BY ${sql.identifier(`${table}_wake`)}
    WHERE ${isLive} AND wake_at <= ${now.getTime()} ORDER BY wake_at LIMIT ${limit})`;
