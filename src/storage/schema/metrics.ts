import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** What has happened since the service began. Here, because isolates and objects share no memory. */
export const counters = sqliteTable(
  "counters",
  {
    name: text("name").notNull(),
    /** What tells counts of one name apart, e.g. the code of a refusal. */
    label: text("label").notNull(),
    value: integer("value").notNull(),
    changedAt: moment("changed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.label] })],
);

/** When each chore of the sweep last succeeded; one that never did: when it was first asked for. */
export const choreRuns = sqliteTable("chore_runs", {
  chore: text("chore").primaryKey(),
  succeededAt: moment("succeeded_at").notNull(),
});
