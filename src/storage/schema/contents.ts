import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, moment } from "./columns.ts";

/** Overlay files: what a build copies into the image. A clone's rows name the same blobs as its source's. */
export const overlayFiles = sqliteTable(
  "overlay_files",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    /** Without a directory. */
    fileName: text("file_name").notNull(),
    /** The directory in the image, absolute and normalised: `/etc`. */
    path: text("path").notNull(),
    owner: text("owner").notNull(),
    group: text("group_name").notNull(),
    /** The mode's bits, e.g. 0o644. */
    permissions: integer("permissions").notNull(),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    size: integer("size").notNull(),
    md5: text("md5").notNull(),
    sha256: text("sha256").notNull(),
    blobId: text("blob_id").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [
    index("overlay_files_appliance").on(table.applianceId, table.id),
    index("overlay_files_blob").on(table.blobId),
  ],
);

/** Bytes that a picture takes, its thumbnail with it: appliances and published versions name it by its blob. */
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
    /** Of the primary key, in lower-case hex: by it the same key is known again in another armour. */
    fingerprint: text("fingerprint").notNull(),
    /** ASCII armour, always ours. */
    key: text("key").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [uniqueIndex("gpg_keys_fingerprint").on(table.applianceId, table.fingerprint)],
);
