import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { appliances } from "./appliances.ts";

/** What the last change of each appliance's selection led to, so that the next one need not be resolved twice. */
export const lastImages = sqliteTable("last_images", {
  applianceId: integer("appliance_id")
    .primaryKey()
    .references(() => appliances.id, { onDelete: "cascade" }),
  /** SHA-256 of all that decided it: repositories with their revisions, architecture, requests. */
  question: text("question").notNull(),
  /** name-version-release.arch of every package; null: it did not resolve. */
  packages: text("packages", { mode: "json" }).$type<string[]>(),
});
