import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";
import { repositories } from "./repositories.ts";

/** Requested imports. One quick and one patient import of each account can have its turn at a time. */
export const importTurns = sqliteTable(
  "import_turns",
  {
    repositoryId: integer("repository_id")
      .primaryKey()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** The owner of the repository; 0 for everyone's. */
    accountId: integer("account_id").notNull(),
    patience: text("patience", { enum: ["quick", "patient"] }).notNull(),
    askedAt: moment("asked_at").notNull(),
    /** When its message was sent, or its last try began; null while it waits. */
    sentAt: moment("sent_at"),
    /** The end of the lease of the consumer that works on it; null if none does. */
    leaseEndsAt: moment("lease_ends_at"),
    tries: integer("tries").notNull(),
  },
  (table) => [
    index("import_turns_line").on(table.accountId, table.patience, table.sentAt),
    index("import_turns_sent").on(table.sentAt),
    index("import_turns_lease").on(table.leaseEndsAt),
  ],
);
