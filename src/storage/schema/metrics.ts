import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Counts since the service began. They are in the database because isolates and objects share no memory. */
export const counters = sqliteTable(
  "counters",
  {
    name: text("name").notNull(),
    /** Distinguishes counts with the same name, e.g. the code of a refusal. */
    label: text("label").notNull(),
    value: integer("value").notNull(),
    changedAt: moment("changed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.label] })],
);

/** When each chore of the sweep last succeeded. If it never did, when it was first requested. */
export const choreRuns = sqliteTable("chore_runs", {
  chore: text("chore").primaryKey(),
  succeededAt: moment("succeeded_at").notNull(),
});
