import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";
import { moment } from "./columns.ts";

/** Room in an account's disk quota for an upload that no row names yet. */
export const reservations = sqliteTable(
  "reservations",
  {
    blobId: text("blob_id").primaryKey(),
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    bytes: integer("bytes").notNull(),
    /** From this time on, the reservation no longer counts. */
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    index("reservations_account").on(table.accountId, table.expiresAt, table.blobId, table.bytes),
    index("reservations_expires").on(table.expiresAt),
  ],
);
