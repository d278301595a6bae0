import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";

/** The SSH keys that an account adds to its appliances. Not in the account's row, which every request reads. */
export const accountSshKeys = sqliteTable("account_ssh_keys", {
  accountId: integer("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  keys: text("keys", { mode: "json" }).notNull().$type<readonly string[]>(),
});
