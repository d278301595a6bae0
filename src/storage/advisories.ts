import { eq, inArray, sql } from "drizzle-orm";
import type { SourceAdvisories } from "#lib/advisories/advisory";
import type { AdvisoryFeed } from "#model/advisory";
import { fromJson, type Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { advisories, advisoryFeedRows, advisoryNames } from "./schema.ts";

export type AdvisoryFeedRow = typeof advisoryFeedRows.$inferSelect;
export type AdvisoryRow = typeof advisories.$inferSelect;

/** Stores advisories of a feed. Rows that have not changed are not written. */
export async function saveAdvisories(
  db: Database,
  feed: AdvisoryFeed,
  groups: readonly SourceAdvisories[],
): Promise<void> {
  const named = groups.flatMap(({ source, advisories: all }) =>
    [...new Set(all.flatMap(({ id, aliases = [] }) => [id, ...aliases]))].map((name) => ({ name, source })),
  );
  const row = {
    feed,
    source: sql`value ->> 'source'`,
    release: sql`value ->> 'release'`,
    advisories: sql`value -> 'advisories'`,
  };
  await db.batch([
    insertFrom(db, advisories, row, sql`FROM json_each(${JSON.stringify(groups)}) WHERE true`).onConflictDoUpdate({
      target: [advisories.feed, advisories.source, advisories.release],
      set: fromNewRow(advisories, ["advisories"]),
      setWhere: sql`${advisories.advisories} <> excluded.advisories`,
    }),
    insertFrom(
      db,
      advisoryNames,
      { name: sql`value ->> 'name'`, source: sql`value ->> 'source'` },
      sql`FROM json_each(${JSON.stringify(named)}) WHERE true`,
    ).onConflictDoNothing(),
  ]);
}

/** Deletes the advisories of a feed about all other source packages and releases than these. */
export async function deleteOtherAdvisories(
  db: Database,
  feed: AdvisoryFeed,
  kept: readonly Pick<SourceAdvisories, "source" | "release">[],
): Promise<void> {
  const keys = kept.map(({ source, release }) => `${source} ${release}`);
  await db.delete(advisories).where(sql`feed = ${feed} AND source || ' ' || release NOT IN ${fromJson(keys)}`);
}

export async function saveFeed(db: Database, row: Partial<AdvisoryFeedRow> & { feed: AdvisoryFeed }): Promise<void> {
  await db.insert(advisoryFeedRows).values(row).onConflictDoUpdate({ target: advisoryFeedRows.feed, set: row });
}

export const listFeeds = (db: Database) => db.select().from(advisoryFeedRows).orderBy(advisoryFeedRows.feed);

/** Rises each time a feed is read, and so with each change of the advisories. 0 if none was ever read. */
export const feedsVersion = (feeds: readonly Pick<AdvisoryFeedRow, "readAt">[]): number =>
  feeds.reduce((sum, { readAt }) => sum + (readAt?.getTime() ?? 0), 0);

/** The advisories of all feeds about these source packages, in these releases. */
export const listAdvisories = (
  db: Database,
  { sources, releases }: { sources: readonly string[]; releases: readonly string[] },
): Promise<AdvisoryRow[]> =>
  db
    .select()
    .from(advisories)
    .where(sql`source IN ${fromJson(sources)} AND release IN ${fromJson(releases)}`);

/** The entries of all feeds about the source packages that an advisory affects. */
export const listAdvisoriesOf = (db: Database, name: string): Promise<AdvisoryRow[]> =>
  db
    .select()
    .from(advisories)
    .where(
      inArray(
        advisories.source,
        db.select({ source: advisoryNames.source }).from(advisoryNames).where(eq(advisoryNames.name, name)),
      ),
    );
