import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { PlannedBuild } from "#model/automatic-build";
import type { AnnouncedOfImage } from "#model/announcement";
import { moment } from "./columns.ts";

/** How outdated images are. The list of outdated packages is a blob of the build. */
export const imageUpdates = sqliteTable(
  "image_updates",
  {
    buildId: integer("build_id").primaryKey(),
    applianceId: integer("appliance_id").notNull(),
    /** The digest of the contents of the repositories that the image was compared with. */
    contents: text("contents").notNull(),
    /** How many packages have newer versions, and how many of these are security updates. */
    newer: integer("newer").notNull(),
    security: integer("security").notNull(),
    lookedAt: moment("looked_at").notNull(),
    /** The announcements about the image. */
    announced: text("announced", { mode: "json" }).notNull().$type<AnnouncedOfImage>().default({}),
  },
  (table) => [index("image_updates_appliance").on(table.applianceId)],
);

/** Appliances that have had an image: when the sweep next checks each one, and its last automatic build. */
export const watches = sqliteTable(
  "watches",
  {
    applianceId: integer("appliance_id").primaryKey(),
    /** The appliance's account. 0 for none. */
    accountId: integer("account_id").notNull(),
    lookAt: moment("look_at").notNull(),
    /** The last automatic build. Null if there was none. */
    automaticState: text("automatic_state", { enum: ["building", "done", "failed", "refused"] }),
    /** The version that was built again, and the new version, which is null if the automatic build was refused. */
    automaticFrom: text("automatic_from"),
    automaticVersion: text("automatic_version"),
    /**
     * The builds of the automatic build, in order. Their uids are chosen in advance, so that each is started only once.
     */
    automaticBuilds: text("automatic_builds", { mode: "json" }).notNull().$type<PlannedBuild[]>().default([]),
    /** The digest of the contents of the repositories when the automatic build was decided on. */
    automaticContents: text("automatic_contents"),
    /** The outcome, for the owner. */
    automaticMessage: text("automatic_message").notNull().default(""),
    automaticAt: moment("automatic_at"),
    /** The appliance's last edit when the automatic build was decided on. */
    automaticEditedAt: moment("automatic_edited_at"),
    /** The uuid of its publication, chosen in advance, so that it is published only once. */
    automaticPublication: text("automatic_publication"),
  },
  (table) => [index("watches_turn").on(table.accountId, table.lookAt)],
);

/**
 * The turns of accounts, so that an account with many appliances does not delay others. `due_at` is at or before the
 * account's earliest `look_at`, or the time of its last turn if an appliance was still due then. Triggers insert, lower
 * and delete the rows.
 */
export const watchTurns = sqliteTable(
  "watch_turns",
  {
    accountId: integer("account_id").primaryKey(),
    dueAt: moment("due_at").notNull(),
  },
  (table) => [index("watch_turns_due").on(table.dueAt)],
);
