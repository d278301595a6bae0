import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { galleryListings, type galleryUses } from "./schema.ts";

/**
 * Rewrites an appliance's listing from its publications, ratings and uses: two statements for the end of a batch that
 * has changed one of them.
 */
export const relisted = (db: Database, applianceId: number) =>
  [
    db
      .delete(galleryListings)
      .where(
        and(
          eq(galleryListings.applianceId, applianceId),
          sql`NOT EXISTS (SELECT 1 FROM publications WHERE appliance_id = ${applianceId})`,
        ),
      ),
    insertFrom(
      db,
      galleryListings,
      {
        applianceId: sql`p.appliance_id`,
        publicationId: sql`max(p.id)`,
        // SQLite takes the other columns from the row with the maximum.
        accountId: sql`p.account_id`,
        popularity,
        rating: sql`coalesce((SELECT avg(rating) FROM ratings WHERE appliance_id = p.appliance_id), 0)`,
        clones: usesOf("clone"),
        testdrives: usesOf("testdrive"),
        downloads: usesOf("download"),
      },
      sql`FROM publications AS p WHERE p.appliance_id = ${applianceId} GROUP BY p.appliance_id`,
    ).onConflictDoUpdate({
      target: galleryListings.applianceId,
      set: fromNewRow(galleryListings, [
        "publicationId",
        "accountId",
        "popularity",
        "rating",
        "clones",
        "testdrives",
        "downloads",
      ]),
    }),
  ] as const;

export type UseKind = (typeof galleryUses.$inferSelect)["kind"];

const usesOf = (kind: UseKind) =>
  sql`(SELECT count(*) FROM gallery_uses WHERE appliance_id = p.appliance_id AND kind = ${kind})`;

/** How many other accounts have cloned, tried or downloaded a published appliance. */
export type Uses = Pick<typeof galleryListings.$inferSelect, "clones" | "testdrives" | "downloads">;

export const findUses = (db: Database, applianceId: number): Promise<Uses | undefined> =>
  db.query.galleryListings.findFirst({
    columns: { clones: true, testdrives: true, downloads: true },
    where: eq(galleryListings.applianceId, applianceId),
  });

/**
 * Ratings above 2 add points, ratings below 2 subtract points, and a clone counts as a rating of 5. Never below 1
 * (gallery.md, "Popularity").
 */
const points = sql`1 + max(0,
  coalesce((SELECT sum(rating - 2) FROM ratings WHERE appliance_id = p.appliance_id AND account_id <> p.account_id), 0)
  + coalesce((SELECT sum(CASE kind WHEN 'clone' THEN 3 WHEN 'testdrive' THEN 1 ELSE 0 END) FROM gallery_uses WHERE appliance_id = p.appliance_id), 0))`;

/** A decimal number, because SQLite's integer division drops the remainder. */
const halfLifeMs = sql.raw(`${180 * 24 * 60 * 60_000}.0`);

/**
 * Doubling the points has the same weight as being published one half-life later. So points lose half their value in
 * that time, but the order of two appliances never changes just because time passes, and an index can store it.
 */
const popularity = sql`log2(${points}) + p.published_at / ${halfLifeMs}`;
