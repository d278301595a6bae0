import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Definitions with a content address. Each account that has posted one has its own row and its own appliance. */
export const schematics = sqliteTable(
  "schematics",
  {
    /** The id of the definition's canonical form. */
    sha256: text("sha256").notNull(),
    accountId: integer("account_id").notNull(),
    /** The appliance that was made from it. */
    applianceId: integer("appliance_id").notNull(),
    /**
     * The appliance's `lastEditedAt` when it was made. If the appliance was edited since, it no longer matches the
     * schematic.
     */
    editedAt: moment("edited_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sha256, table.accountId] }),
    index("schematics_appliance").on(table.applianceId),
  ],
);
