import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Definitions that have a content address. Each account that has posted one has its own row, and its own appliance. */
export const schematics = sqliteTable(
  "schematics",
  {
    /** The id of the canonical form of the definition. */
    sha256: text("sha256").notNull(),
    accountId: integer("account_id").notNull(),
    /** The appliance that was made from it. */
    applianceId: integer("appliance_id").notNull(),
    /**
     * The appliance's last edit when it was made. If the appliance was edited since, it is no longer the schematic's.
     */
    editedAt: moment("edited_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sha256, table.accountId] }),
    index("schematics_appliance").on(table.applianceId),
  ],
);
