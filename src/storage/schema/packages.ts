/**
 * The tables of the packages' database. The same migrations make all tables in both databases, so that both can be one.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "./columns.ts";

/** A package's facts for search results. `packages_fts` (see the migration) indexes name and summary by trigrams. */
export const packages = sqliteTable(
  "packages",
  {
    id: id(),
    /** The import that the package belongs to. Searches find only packages of imports that a repository shows. */
    importId: text("import_id").notNull(),
    name: text("name").notNull(),
    epoch: integer("epoch").notNull(),
    version: text("version").notNull(),
    release: text("release").notNull(),
    arch: text("arch").notNull(),
    summary: text("summary").notNull(),
    description: text("description").notNull(),
    /** Sizes of the file to download, and of the files that it installs. */
    sizeBytes: integer("size_bytes").notNull(),
    installedBytes: integer("installed_bytes").notNull(),
    /** Checksum and location of the file. They are empty if there is no file. */
    checksumType: text("checksum_type").notNull(),
    checksum: text("checksum").notNull(),
    /** Relative to the repository. */
    location: text("location").notNull(),
    /** The pattern that the package represents. In yast2, patterns have their own rows, without a file. */
    pattern: text("pattern"),
  },
  (table) => [
    index("packages_name").on(table.importId, table.name),
    index("packages_pattern")
      .on(table.importId, table.pattern)
      .where(sql`pattern IS NOT NULL`),
  ],
);

/**
 * The names of an import in order, several dozen per row. A text that is too short for trigrams is searched for in
 * these rows instead of in each name.
 */
export const namePages = sqliteTable(
  "name_pages",
  {
    importId: text("import_id").notNull(),
    first: text("first").notNull(),
    last: text("last").notNull(),
    /** The names in lower case, one per line. */
    names: text("names").notNull(),
  },
  (table) => [primaryKey({ columns: [table.importId, table.first] })],
);
