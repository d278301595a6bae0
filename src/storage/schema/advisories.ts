import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Advisory } from "#lib/advisories/advisory";
import type { AdvisoryFeed } from "#model/advisory";
import { id, moment } from "./columns.ts";

/** The feeds of advisories, and when and from where each was last read. */
export const advisoryFeedRows = sqliteTable("advisory_feeds", {
  feed: text("feed").primaryKey().$type<AdvisoryFeed>(),
  /** The URL, read once a day; null if the operator supplies files. */
  url: text("url"),
  /** The file or URL that was read last. */
  origin: text("origin"),
  /** When the feed was last read; null if it never was. */
  readAt: moment("read_at"),
  /** How many pairs of a source package and a release the feed had. */
  sources: integer("sources").notNull().default(0),
  /** When the URL was last requested, and why reading it failed; empty if it succeeded. */
  triedAt: moment("tried_at"),
  problem: text("problem").notNull().default(""),
});

/**
 * A feed's advisories about a source package in a release. One row has all of them, so that an image reads one row for
 * each source package.
 */
export const advisories = sqliteTable(
  "advisories",
  {
    feed: text("feed").notNull().$type<AdvisoryFeed>(),
    source: text("source").notNull(),
    release: text("release").notNull(),
    advisories: text("advisories", { mode: "json" }).notNull().$type<Advisory[]>(),
  },
  (table) => [
    primaryKey({ columns: [table.feed, table.source, table.release] }),
    index("advisories_source").on(table.source, table.release),
  ],
);

/** The advisories that are known to be exploited. */
export const exploitedAdvisories = sqliteTable("exploited_advisories", { name: text("name").primaryKey() });

/**
 * Changes of advisories after which images must be counted again. Triggers write them, and the chore that counts
 * deletes them. Without a source, the releases of a base system have changed.
 */
export const advisoryChanges = sqliteTable("advisory_changes", {
  id: id(),
  source: text("source").notNull().default(""),
  release: text("release").notNull().default(""),
  baseSystem: text("base_system").notNull().default(""),
});

/** Which source packages an advisory has ever been about. */
export const advisoryNames = sqliteTable(
  "advisory_names",
  { name: text("name").notNull(), source: text("source").notNull() },
  (table) => [primaryKey({ columns: [table.name, table.source] })],
);
