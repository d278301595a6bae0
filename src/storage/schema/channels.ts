import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, moment } from "./columns.ts";

/** Named channels of appliances, such as `stable`. */
export const channels = sqliteTable(
  "channels",
  {
    applianceId: integer("appliance_id").notNull(),
    name: text("name").notNull(),
    /** Whether the channel moves automatically to each newer version that is published and has passed its checks. */
    isAutomatic: integer("is_automatic", { mode: "boolean" }).notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.applianceId, table.name] })],
);

/**
 * The published versions that a channel has had, ordered by id: the last one is its head. When a version is no longer
 * published, its row is deleted, so the previous one becomes the head again.
 */
export const channelVersions = sqliteTable(
  "channel_versions",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    channel: text("channel").notNull(),
    publicationId: integer("publication_id").notNull(),
    movedAt: moment("moved_at").notNull(),
  },
  (table) => [
    index("channel_versions_channel").on(table.applianceId, table.channel, table.id),
    uniqueIndex("channel_versions_publication").on(table.publicationId, table.channel),
  ],
);
