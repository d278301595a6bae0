import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { appliances } from "./appliances.ts";
import { moment } from "./columns.ts";

/**
 * The image after the last change of each appliance's selection, stored so that the next change needs only one
 * resolution.
 */
export const lastImages = sqliteTable("last_images", {
  applianceId: integer("appliance_id")
    .primaryKey()
    .references(() => appliances.id, { onDelete: "cascade" }),
  /** SHA-256 of everything that determines the image: repositories with their revisions, architecture, requests. */
  question: text("question").notNull(),
  /** name-version-release.arch of every package; null if the selection did not resolve. */
  packages: text("packages", { mode: "json" }).$type<string[]>(),
});

/** The result of each appliance's last examination, for lists, which do not examine appliances. */
export const lastStatuses = sqliteTable("last_statuses", {
  applianceId: integer("appliance_id")
    .primaryKey()
    .references(() => appliances.id, { onDelete: "cascade" }),
  errors: integer("errors").notNull(),
  warnings: integer("warnings").notNull(),
  /** The first error, or else the first warning; empty if there is neither. */
  text: text("text").notNull(),
  /** The number of packages in the image; null if they did not resolve. */
  packages: integer("packages"),
  /** The appliance's `lastEditedAt` at the time of the examination. */
  editedAt: moment("edited_at").notNull(),
  examinedAt: moment("examined_at").notNull(),
});
