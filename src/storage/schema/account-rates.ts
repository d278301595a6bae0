import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";

/** How often an account did each expensive act in the latest time window. */
export const accountRates = sqliteTable(
  "account_rates",
  {
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    what: text("what").notNull(),
    /** The number of the window, counted from 1970. */
    window: integer("window_number").notNull(),
    uses: integer("uses").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.what] })],
);
