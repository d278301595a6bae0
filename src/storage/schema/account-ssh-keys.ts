import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";

/** The SSH keys that an account adds to its appliances: a row of its own, because every request reads that of the account. */
export const accountSshKeys = sqliteTable("account_ssh_keys", {
  accountId: integer("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  keys: text("keys", { mode: "json" }).notNull().$type<readonly string[]>(),
});
