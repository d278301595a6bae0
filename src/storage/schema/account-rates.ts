import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";

/** How often an account did what costs much, in the latest window of time in which it did. */
export const accountRates = sqliteTable(
  "account_rates",
  {
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    what: text("what").notNull(),
    /** Number of the window since 1970. */
    window: integer("window_number").notNull(),
    uses: integer("uses").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.what] })],
);
