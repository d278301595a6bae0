import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Arch, ImageType } from "#lib/contract/index";
import type { PublishedDefinition, PublishedFormat, PublishedSoftware } from "#model/published";
import { appliances } from "./appliances.ts";
import { fileColumns, id, moment, requestId } from "./columns.ts";

/** Accounts that may read and clone an appliance, in addition to its owner. */
export const shares = sqliteTable(
  "shares",
  {
    applianceId: integer("appliance_id").notNull(),
    accountId: integer("account_id").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.accountId] }),
    index("shares_account").on(table.accountId),
  ],
);

/**
 * Versions in the gallery: each is a snapshot of its appliance, which later edits do not change. `publications_fts`
 * (see the migration) indexes its words. Lists do not read the last columns, which are large.
 */
export const publications = sqliteTable(
  "publications",
  {
    id: id(),
    /** Chosen before the row has an id. */
    uuid: text("uuid").notNull().unique(),
    /** The reference prevents a published appliance from being deleted. */
    applianceId: integer("appliance_id")
      .notNull()
      .references(() => appliances.id),
    accountId: integer("account_id").notNull(),
    version: text("version").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    homepage: text("homepage").notNull(),
    tags: text("tags", { mode: "json" }).notNull().$type<string[]>(),
    /** The account's display name and name at the time of publication. */
    publisher: text("publisher").notNull(),
    username: text("username").notNull(),
    baseSystem: text("base_system").notNull(),
    arch: text("arch").notNull().$type<Arch>(),
    imageType: text("image_type").notNull().$type<ImageType>(),
    /** Whether every account may clone the version. */
    publicClonable: integer("public_clonable", { mode: "boolean" }).notNull(),
    logoBlob: text("logo_blob"),
    backgroundBlob: text("background_blob"),
    /** A screenshot of the booted system. */
    screenBlob: text("screen_blob"),
    /** Whether the next testdrive takes a screenshot: there was none yet, and the publisher has not removed one. */
    wantsScreen: integer("wants_screen", { mode: "boolean" }).notNull().default(true),
    publishedAt: moment("published_at").notNull(),
    /** Whether all images of the version are in the public log. */
    isLogged: integer("is_logged", { mode: "boolean" }).notNull().default(false),
    releaseNotes: text("release_notes").notNull(),
    formats: text("formats", { mode: "json" }).notNull().$type<PublishedFormat[]>(),
    definition: text("definition", { mode: "json" }).notNull().$type<PublishedDefinition>(),
    software: text("software", { mode: "json" }).notNull().$type<PublishedSoftware>(),
    /** Names of all packages in the image, for the search. */
    packages: text("packages").notNull(),
  },
  (table) => [
    uniqueIndex("publications_version").on(table.applianceId, table.version),
    index("publications_account").on(table.accountId),
    index("publications_logo").on(table.logoBlob),
    index("publications_background").on(table.backgroundBlob),
    index("publications_screen").on(table.screenBlob),
    index("publications_unlogged")
      .on(table.id)
      .where(sql`is_logged = 0`),
  ],
);

/** The overlay files of a published version. They refer to the same blobs as those of the appliance. */
export const publishedFiles = sqliteTable(
  "published_files",
  {
    publicationId: integer("publication_id").notNull(),
    position: integer("position").notNull(),
    ...fileColumns(),
  },
  (table) => [
    primaryKey({ columns: [table.publicationId, table.position] }),
    index("published_files_blob").on(table.blobId),
  ],
);

/**
 * One row for each appliance in the gallery. It gives the order of the lists without reading snapshots and opinions,
 * and is rewritten with every publication, rating and use (storage/gallery-listings.ts).
 */
export const galleryListings = sqliteTable(
  "gallery_listings",
  {
    applianceId: integer("appliance_id").primaryKey(),
    /** The version that was published last. */
    publicationId: integer("publication_id").notNull(),
    accountId: integer("account_id").notNull(),
    /** The order of popular appliances (gallery.md, "Popularity"). It never changes with time alone. */
    popularity: real("popularity").notNull(),
    /** The average of the ratings. 0 if there are none. */
    rating: real("rating").notNull(),
    /** How many other accounts have cloned, tried or downloaded the appliance. */
    clones: integer("clones").notNull(),
    testdrives: integer("testdrives").notNull(),
    downloads: integer("downloads").notNull(),
  },
  (table) => [
    uniqueIndex("gallery_listings_publication").on(table.publicationId),
    index("gallery_listings_account").on(table.accountId, table.publicationId),
    index("gallery_listings_popularity").on(table.popularity, table.publicationId),
    index("gallery_listings_rating").on(table.rating, table.publicationId),
  ],
);

/** A single row: the number of rows in `gallery_listings`. Triggers keep it up to date (see the migration). */
export const gallerySize = sqliteTable("gallery_size", {
  id: integer("id").primaryKey(),
  appliances: integer("appliances").notNull(),
});

/** One rating per account and appliance. */
export const ratings = sqliteTable(
  "ratings",
  {
    applianceId: integer("appliance_id").notNull(),
    accountId: integer("account_id").notNull(),
    rating: integer("rating").notNull(),
    ratedAt: moment("rated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.accountId] }),
    check("ratings_range", sql`rating BETWEEN 0 AND 5`),
    index("ratings_account").on(table.accountId),
  ],
);

export const comments = sqliteTable(
  "comments",
  {
    id: id(),
    applianceId: integer("appliance_id").notNull(),
    accountId: integer("account_id").notNull(),
    /** The comment that this one replies to. */
    parentId: integer("parent_id"),
    text: text("text").notNull(),
    createdAt: moment("created_at").notNull(),
    requestId: requestId(),
  },
  (table) => [
    index("comments_appliance").on(table.applianceId, table.id),
    index("comments_account").on(table.accountId),
  ],
);

/**
 * Accounts that have cloned, tried or downloaded another account's published appliance. Each counts once (gallery.md,
 * "Popularity").
 */
export const galleryUses = sqliteTable(
  "gallery_uses",
  {
    applianceId: integer("appliance_id").notNull(),
    accountId: integer("account_id").notNull(),
    kind: text("kind", { enum: ["clone", "testdrive", "download"] }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.applianceId, table.accountId, table.kind] }),
    index("gallery_uses_account").on(table.accountId),
  ],
);
