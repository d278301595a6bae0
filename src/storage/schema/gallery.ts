import { index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Who may read and clone an appliance beside its owner. */
export const shares = sqliteTable(
  "shares",
  {
    applianceId: integer("appliance_id").notNull(),
    accountId: integer("account_id").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.accountId] }),
    index("shares_account").on(table.accountId),
  ],
);
