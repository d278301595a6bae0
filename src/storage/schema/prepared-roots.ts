import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { moment } from "./columns.ts";

/** Roots that an agent has prepared, shared so that no agent has to prepare them again for another format. */
export const preparedRoots = sqliteTable(
  "prepared_roots",
  {
    applianceId: integer("appliance_id").notNull(),
    /** The hash of everything that determines the root. The agent computes it. */
    key: text("key").notNull(),
    /** The build that the root was prepared for. The root's blob is deleted with that build's blobs. */
    buildId: integer("build_id").notNull(),
    /** The archive's key in R2. */
    blobKey: text("blob_key").notNull(),
    sha256: text("sha256").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.key] }),
    index("prepared_roots_build").on(table.buildId),
    index("prepared_roots_created").on(table.createdAt),
  ],
);
