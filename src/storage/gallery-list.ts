import { sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";

/** An entry of a gallery list. */
export interface ListedPublication {
  applianceId: number;
  name: string;
  publisher: string;
  username: string;
  homepage: string;
  description: string;
  ratings: number;
  averageRating: number | null;
  comments: number;
  baseSystem: string;
  /** Milliseconds since 1970. */
  publishedAt: number;
}

/** `words`: each has to be there, or a longer one that begins with it. */
export type GalleryFilter =
  | { kind: "latest" }
  | { kind: "popular" }
  | { kind: "account"; accountId: number }
  | { kind: "search"; words: readonly string[] };

/** One page of the published appliances, each as it was published last, and how many there are on all pages. */
export async function listPublications(
  db: Database,
  filter: GalleryFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; entries: ListedPublication[] }> {
  const { among, found, join, order } = partsOf(filter);
  const latest = sql`latest AS MATERIALIZED (SELECT max(id) AS id FROM publications ${among} GROUP BY appliance_id)`;
  // CROSS: SQLite would begin with the other table, and look through `latest` for each of its rows.
  const chosen = sql`FROM latest CROSS JOIN publications AS p ON p.id = latest.id ${join}`;
  const [[counted], entries] = await Promise.all([
    db.all<{ total: number }>(sql`WITH ${latest} ${found} SELECT count(*) AS total ${chosen}`),
    db.all<ListedPublication>(sql`
      WITH ${latest} ${found},
        page AS MATERIALIZED (
          SELECT p.id, row_number() OVER (ORDER BY ${order}, p.id DESC) AS place ${chosen}
          ORDER BY place LIMIT ${limit} OFFSET ${offset})
      SELECT p.appliance_id AS applianceId, p.name, p.publisher, p.username, p.homepage, p.description,
        (SELECT count(*) FROM ratings WHERE appliance_id = p.appliance_id) AS ratings,
        (SELECT avg(rating) FROM ratings WHERE appliance_id = p.appliance_id) AS averageRating,
        (SELECT count(*) FROM comments WHERE appliance_id = p.appliance_id) AS comments,
        p.base_system AS baseSystem, p.published_at AS publishedAt
      FROM page JOIN publications AS p ON p.id = page.id ORDER BY page.place`),
  ]);
  return { total: counted?.total ?? 0, entries };
}

interface Parts {
  /** Which publications count at all. */
  among: SQL;
  /** Further table expressions, with a comma before them, and how they are joined. */
  found: SQL;
  join: SQL;
  order: SQL;
}

function partsOf(filter: GalleryFilter): Parts {
  const byDate = { among: sql``, found: sql``, join: sql``, order: sql`p.id DESC` };
  switch (filter.kind) {
    case "latest":
      return byDate;
    case "popular":
      return { ...byDate, order: sql`${popularity} DESC` };
    case "account":
      return { ...byDate, among: sql`WHERE account_id = ${filter.accountId}` };
    case "search":
      return filter.words.length === 0 ? byDate : searched(filter.words);
    default:
      return filter satisfies never;
  }
}

// Columns: name, description, tags, publisher, username, packages. A name says more than a package does.
const weights = sql.raw("10.0, 4.0, 6.0, 4.0, 4.0, 1.0");

function searched(words: readonly string[]): Parts {
  return {
    among: sql``,
    found: sql`, found AS MATERIALIZED (
      SELECT rowid AS id, bm25(publications_fts, ${weights}) AS weight FROM publications_fts
      WHERE publications_fts MATCH ${words.map(prefixPhrase).join(" AND ")})`,
    join: sql`JOIN found ON found.id = p.id`,
    order: sql`found.weight`,
  };
}

/** In quotes nothing is an operator of FTS5. */
const prefixPhrase = (word: string): string => `"${word.replaceAll('"', '""')}" *`;

/** Bound as a decimal, so that SQLite divides decimals. */
const halfLifeMs = sql.raw(`${90 * 24 * 60 * 60_000}.0`);

/** docs/decisions/0019-gallery.md: what others think and do, which counts half after 90 days and a third after 180. */
const popularity = sql`(
  (1.0 + max(0,
    coalesce((SELECT sum(rating - 2) FROM ratings WHERE appliance_id = p.appliance_id AND account_id <> p.account_id), 0)
    + coalesce((SELECT sum(CASE kind WHEN 'clone' THEN 3 ELSE 1 END) FROM gallery_uses WHERE appliance_id = p.appliance_id), 0)))
  / (1.0 + max(0, unixepoch() * 1000 - p.published_at) / ${halfLifeMs}))`;
