import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";
import { repositories } from "./repositories.ts";

/** Requested imports. For each account, one quick and one patient import can have a turn at the same time. */
export const importTurns = sqliteTable(
  "import_turns",
  {
    repositoryId: integer("repository_id")
      .primaryKey()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** The owner of the repository; 0 for a repository that everyone sees. */
    accountId: integer("account_id").notNull(),
    patience: text("patience", { enum: ["quick", "patient"] }).notNull(),
    askedAt: moment("asked_at").notNull(),
    /** When the import's message was sent, or its last try began; null while the import waits. */
    sentAt: moment("sent_at"),
    /** The end of the lease of the consumer that works on the import; null if there is none. */
    leaseEndsAt: moment("lease_ends_at"),
    tries: integer("tries").notNull(),
  },
  (table) => [
    index("import_turns_line").on(table.accountId, table.patience, table.sentAt),
    index("import_turns_sent").on(table.sentAt),
    index("import_turns_lease").on(table.leaseEndsAt),
  ],
);
