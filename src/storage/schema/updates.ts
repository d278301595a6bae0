import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { PlannedBuild } from "#model/rebuild";
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

/** Appliances that have had an image: when the sweep looks at each next, and its last rebuild. */
export const watches = sqliteTable(
  "watches",
  {
    applianceId: integer("appliance_id").primaryKey(),
    lookAt: moment("look_at").notNull(),
    /** The last rebuild. Null if there was none. */
    rebuildState: text("rebuild_state", { enum: ["building", "done", "failed", "refused"] }),
    /** The version that was rebuilt, and the new one: null if the rebuild was refused. */
    rebuildFrom: text("rebuild_from"),
    rebuildVersion: text("rebuild_version"),
    /** Its builds, in their order. Their uids are chosen before, so that each is started once. */
    rebuildBuilds: text("rebuild_builds", { mode: "json" }).notNull().$type<PlannedBuild[]>().default([]),
    /** The digest of the contents of the repositories when it was decided. */
    rebuildContents: text("rebuild_contents"),
    /** What came of it, for the owner. */
    rebuildMessage: text("rebuild_message").notNull().default(""),
    rebuildAt: moment("rebuild_at"),
    /** The appliance's last edit when it was decided. */
    rebuildEditedAt: moment("rebuild_edited_at"),
    /** The uuid of its publication, chosen before, so that it is published once. */
    rebuildPublication: text("rebuild_publication"),
  },
  (table) => [index("watches_look").on(table.lookAt)],
);
