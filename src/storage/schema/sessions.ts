import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, moment } from "./columns.ts";

/** Signed-in browsers. The secret of the cookie is not stored: a session is found by its HMAC. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id(),
    accountId: integer("account_id").notNull(),
    secretHmac: text("secret_hmac").notNull().unique(),
    createdAt: moment("created_at").notNull(),
    /** Exact to the minute. */
    lastUsedAt: moment("last_used_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
    /** For example `Firefox on Linux`. */
    browser: text("browser").notNull(),
    /** Part of the IP address at sign-in; null if unknown. */
    network: text("network"),
  },
  (table) => [index("sessions_account").on(table.accountId, table.id), index("sessions_expires").on(table.expiresAt)],
);
