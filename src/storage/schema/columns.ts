import { integer, text } from "drizzle-orm/sqlite-core";

/** Moments are milliseconds since 1970, read as Date. */
export const moment = (name: string) => integer(name, { mode: "timestamp_ms" });

/** An id that is never reused, not even after its row is deleted. Only a restored database uses it again. */
export const id = () => integer("id").primaryKey({ autoIncrement: true });

/**
 * Names the row's data outside the database. After a restore, an id may be used again, but a uid never is. In older
 * rows it is the id.
 */
export const uid = () =>
  text("uid")
    .notNull()
    .unique()
    .$defaultFn(() => crypto.randomUUID());

/** The request with an Idempotency-Key that added the row: a repeated request finds the row, and cannot add another. */
export const requestId = () => text("request_id").unique();

/** An overlay file: its name, its place and owner in the image, and its content. */
export const fileColumns = () => ({
  /** The name without a directory. */
  fileName: text("file_name").notNull(),
  /** The directory in the image, absolute and normalised: `/etc`. */
  path: text("path").notNull(),
  owner: text("owner").notNull(),
  group: text("group_name").notNull(),
  /** The mode bits, e.g. 0o644. */
  permissions: integer("permissions").notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  size: integer("size").notNull(),
  md5: text("md5").notNull(),
  sha256: text("sha256").notNull(),
  blobId: text("blob_id").notNull(),
  createdAt: moment("created_at").notNull(),
});
