import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { VexJustification, VexStatus } from "#lib/advisories/vex";
import { moment } from "./columns.ts";

/** Owners' statements about advisories. A trigger deletes the rows of a build that is deleted. */
export const vexStatements = sqliteTable(
  "vex_statements",
  {
    applianceId: integer("appliance_id").notNull(),
    advisory: text("advisory").notNull(),
    /** 0 for all images of the appliance. */
    buildId: integer("build_id").notNull(),
    status: text("status").notNull().$type<VexStatus>(),
    /** Null unless the status is `not_affected`. */
    justification: text("justification").$type<VexJustification>(),
    text: text("text").notNull(),
    statedAt: moment("stated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.applianceId, table.advisory, table.buildId] })],
);
