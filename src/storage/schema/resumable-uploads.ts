import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";
import { id, moment, requestId } from "./columns.ts";
import type { overlayFiles } from "./contents.ts";

type FileMetadata = Pick<
  typeof overlayFiles.$inferSelect,
  "fileName" | "path" | "owner" | "group" | "permissions" | "enabled"
>;

/** Files that arrive in several requests. A row stays for a day after its last bytes, even if its file is complete. */
export const resumableUploads = sqliteTable(
  "resumable_uploads",
  {
    id: id(),
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    /** The target: an overlay file of this appliance, or otherwise a package for this base system. */
    applianceId: integer("appliance_id"),
    baseSystem: text("base_system"),
    /** The metadata of an overlay file. */
    metadata: text("metadata", { mode: "json" }).$type<FileMetadata>(),
    /** The name that the client gave the file. */
    sentName: text("sent_name"),
    length: integer("length").notNull(),
    /** The number of stored bytes. Equals the length only when the file is complete. */
    offset: integer("received_bytes").notNull().default(0),
    blobId: text("blob_id").notNull().unique(),
    /** R2's multipart upload of the blob. */
    multipartId: text("multipart_id").notNull(),
    /** The request that is writing the upload, and when that request counts as dead. */
    leaseId: text("lease_id"),
    leaseEndsAt: moment("lease_ends_at"),
    createdAt: moment("created_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
    /** When the upload became an overlay file or a package, and the id of that. */
    finishedAt: moment("finished_at"),
    madeId: integer("made_id"),
    requestId: requestId(),
  },
  (table) => [
    index("resumable_uploads_account").on(table.accountId, table.id),
    index("resumable_uploads_unfinished")
      .on(table.accountId, table.length)
      .where(sql`finished_at IS NULL`),
    index("resumable_uploads_expires").on(table.expiresAt),
  ],
);

/** The stored parts of a multipart upload, because R2 does not list them. */
export const resumableUploadParts = sqliteTable(
  "resumable_upload_parts",
  {
    uploadId: integer("upload_id")
      .notNull()
      .references(() => resumableUploads.id, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    etag: text("etag").notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.number] })],
);
