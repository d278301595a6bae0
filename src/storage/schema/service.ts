import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Where the sweep continues below a prefix of R2. Without a row, it begins at the start. */
export const sweepPositions = sqliteTable("sweep_positions", {
  prefix: text("prefix").primaryKey(),
  cursor: text("cursor").notNull(),
});

/** The operator's switches, e.g. read-only mode. */
export const serviceSettings = sqliteTable("service_settings", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** Blobs that the input of a build names. They stay until the build ends, even if their original rows are gone. */
export const frozenBlobs = sqliteTable(
  "frozen_blobs",
  {
    buildId: integer("build_id").notNull(),
    blobId: text("blob_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.buildId, table.blobId] }), index("frozen_blobs_blob").on(table.blobId)],
);

/**
 * When a row that named a blob was deleted or changed. An hour later, the sweep removes the blob unless another row
 * names it.
 */
export const releasedBlobs = sqliteTable(
  "released_blobs",
  {
    blobId: text("blob_id").primaryKey(),
    releasedAt: moment("released_at").notNull(),
  },
  (table) => [index("released_blobs_at").on(table.releasedAt)],
);

/** The legal agreements of base systems that an account has accepted, and when. */
export const agreements = sqliteTable(
  "agreements",
  {
    accountId: integer("account_id").notNull(),
    baseSystem: text("base_system").notNull(),
    /** SHA-256 of the accepted text. If the text changes, it must be accepted again. */
    textSha256: text("text_sha256").notNull(),
    acceptedAt: moment("accepted_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.baseSystem, table.textSha256] })],
);

/** Answers to POST requests that carried an Idempotency-Key, stored for a day. */
export const idempotentAnswers = sqliteTable(
  "idempotent_answers",
  {
    accountId: integer("account_id").notNull(),
    key: text("key").notNull(),
    /** SHA-256 of method, path, query and body. The same key with a different request is a conflict. */
    requestSha256: text("request_sha256").notNull(),
    /**
     * The name of the row that the request adds, so that a repeated request finds the row. All repeats use the same
     * name.
     */
    requestId: text("request_id")
      .notNull()
      .$defaultFn(() => crypto.randomUUID()),
    /** Null while the first request is still running. */
    status: integer("status"),
    contentType: text("content_type"),
    /** The body, encrypted. Also null if the answer was too large to be stored. */
    body: text("body"),
    /** When the request that holds the key arrived. This distinguishes it from an earlier holder. */
    createdAt: moment("created_at").notNull(),
    /** When the lease ends. A running request that has not renewed it by then counts as dead. */
    leaseEndsAt: moment("lease_ends_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index("idempotent_answers_created").on(table.createdAt),
  ],
);
