import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { fileColumns, id, moment, requestId } from "./columns.ts";

/** Overlay files, which a build copies into the image. A clone's rows name the same blobs as its source's. */
export const overlayFiles = sqliteTable(
  "overlay_files",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    ...fileColumns(),
    requestId: requestId(),
  },
  (table) => [
    index("overlay_files_appliance").on(table.applianceId, table.id),
    index("overlay_files_blob").on(table.blobId),
  ],
);

/** The bytes of a picture and its thumbnail: appliances and published versions name it by its blob. */
export const pictureSizes = sqliteTable("picture_sizes", {
  blobId: text("blob_id").primaryKey(),
  bytes: integer("bytes").notNull(),
});

/** GPG keys that a build imports into the image's keyring. */
export const gpgKeys = sqliteTable(
  "gpg_keys",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    name: text("name").notNull(),
    target: text("target", { enum: ["rpm"] }).notNull(),
    /** Fingerprint of the primary key, in lower-case hex. It identifies the same key in another armour. */
    fingerprint: text("fingerprint").notNull(),
    /** ASCII armour, always written by this service. */
    key: text("key").notNull(),
    createdAt: moment("created_at").notNull(),
    requestId: requestId(),
  },
  (table) => [uniqueIndex("gpg_keys_fingerprint").on(table.applianceId, table.fingerprint)],
);
