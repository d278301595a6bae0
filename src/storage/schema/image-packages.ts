import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AffectedCounts } from "#model/advisory";
import { id } from "./columns.ts";

/** The package versions in images, each stored once for all images of a base system. */
export const packageVersions = sqliteTable(
  "package_versions",
  {
    id: id(),
    name: text("name").notNull(),
    baseSystem: text("base_system").notNull(),
    /** `[epoch:]version[-release]` */
    version: text("version").notNull(),
    arch: text("arch").notNull(),
    /**
     * The source package that the package was built from. If that was not reported, the package's own name and version.
     */
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
    index("package_versions_base").on(table.baseSystem),
  ],
);

/** The packages of each image. Triggers delete the rows of images that are deleted, replaced or expired. */
export const imagePackages = sqliteTable(
  "image_packages",
  {
    accountId: integer("account_id").notNull(),
    buildId: integer("build_id").notNull(),
    /** Whether the image's advisories were ever counted. */
    isCounted: integer("is_counted", { mode: "boolean" }).notNull().default(false),
    /** Null if no feed covers the base system. */
    advisories: text("advisories", { mode: "json" }).$type<AffectedCounts>(),
    /** Ids of `package_versions` in ascending order, each as its difference from the previous one. */
    packages: text("packages", { mode: "json" }).notNull().$type<number[]>(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.buildId] }),
    index("image_packages_build").on(table.buildId),
    index("image_packages_uncounted")
      .on(table.accountId, table.buildId)
      .where(sql`is_counted = 0`),
  ],
);
