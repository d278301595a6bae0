import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, moment } from "./columns.ts";

/**
 * Packages of other servers that builds were frozen with. Mirrors may delete them, so R2 stores their files while a
 * build needs them.
 */
export const storedPackages = sqliteTable(
  "stored_packages",
  {
    id: id(),
    /** Only builds that froze this repository may read the file. */
    repositoryId: integer("repository_id").notNull(),
    /** `TYPE:VALUE`, as frozen. */
    checksum: text("checksum").notNull(),
    /** The file's size. Until the file is stored, it is the size from the metadata, or 0 if that states none. */
    size: integer("size").notNull(),
    /** The folder of the file's pieces in R2; null if no agent has sent the file. */
    blob: text("blob"),
    pieces: integer("pieces").notNull().default(0),
    /** When the last build stopped needing the package; null while a build needs it. */
    releasedAt: moment("released_at"),
  },
  (table) => [
    uniqueIndex("stored_packages_checksum").on(table.repositoryId, table.checksum),
    uniqueIndex("stored_packages_blob").on(table.blob),
    index("stored_packages_released")
      .on(table.releasedAt)
      .where(sql`released_at IS NOT NULL`),
  ],
);

/** Which build needs which stored packages. */
export const packageNeeds = sqliteTable(
  "package_needs",
  { buildId: integer("build_id").notNull(), packageId: integer("package_id").notNull() },
  (table) => [
    primaryKey({ columns: [table.buildId, table.packageId] }),
    index("package_needs_package").on(table.packageId),
  ],
);
