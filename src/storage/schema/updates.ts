import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** How outdated images are. The list of the packages is a blob of the build. */
export const imageUpdates = sqliteTable(
  "image_updates",
  {
    buildId: integer("build_id").primaryKey(),
    applianceId: integer("appliance_id").notNull(),
    /** The digest of the contents of the repositories that it was compared with. */
    contents: text("contents").notNull(),
    /** How many packages have newer versions, and how many of these are security updates. */
    newer: integer("newer").notNull(),
    security: integer("security").notNull(),
    lookedAt: moment("looked_at").notNull(),
    /** The contents for which it was decided whether to announce anything. */
    decidedFor: text("decided_for"),
    /** What the last announcement said. The security updates are names with versions. */
    toldAt: moment("told_at"),
    toldNewer: integer("told_newer").notNull().default(0),
    toldSecurity: text("told_security", { mode: "json" }).notNull().$type<string[]>().default([]),
  },
  (table) => [index("image_updates_appliance").on(table.applianceId)],
);

/** Appliances that have had an image, and when the sweep looks at each next. */
export const watches = sqliteTable(
  "watches",
  {
    applianceId: integer("appliance_id").primaryKey(),
    lookAt: moment("look_at").notNull(),
  },
  (table) => [index("watches_look").on(table.lookAt)],
);
