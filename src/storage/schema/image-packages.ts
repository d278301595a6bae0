import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id } from "./columns.ts";

/** The packages that images have, each version once for all images of a base system. */
export const packageVersions = sqliteTable(
  "package_versions",
  {
    id: id(),
    name: text("name").notNull(),
    baseSystem: text("base_system").notNull(),
    /** `[epoch:]version[-release]` */
    version: text("version").notNull(),
    arch: text("arch").notNull(),
    /** The source package that it was built from. Without such a report, its own name and version. */
    source: text("source").notNull(),
    sourceVersion: text("source_version").notNull(),
  },
  (table) => [
    uniqueIndex("package_versions_name").on(
      table.name,
      table.baseSystem,
      table.version,
      table.arch,
      table.source,
      table.sourceVersion,
    ),
    index("package_versions_source").on(table.source, table.baseSystem),
  ],
);

/** Which images have a package. Triggers delete the rows of images that are deleted, replaced or expired. */
export const imagePackages = sqliteTable(
  "image_packages",
  {
    packageId: integer("package_id").notNull(),
    accountId: integer("account_id").notNull(),
    buildId: integer("build_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.packageId, table.accountId, table.buildId] }),
    index("image_packages_build").on(table.buildId),
  ],
);
