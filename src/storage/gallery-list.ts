import { sql, type SQL } from "drizzle-orm";
import type { Arch, ImageType } from "#lib/contract/index";
import type { AffectedCounts } from "#model/advisory";
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
  clones: number;
  testdrives: number;
  downloads: number;
  baseSystem: string;
  arch: Arch;
  version: string;
  accountId: number;
  publicClonable: 0 | 1;
  logoBlob: string | null;
  screenBlob: string | null;
  /** The format of the first image. */
  downloadBytes: number | null;
  /** How many advisories affect its most affected image. Null if that is unknown. */
  advisories: AffectedCounts | null;
  /** Image types of the version, space-separated. */
  imageTypes: string | null;
  /** Milliseconds since 1970. */
  publishedAt: number;
}

/** `words`: an entry must contain a word that begins with each of them. */
export type GalleryFilter =
  | { kind: "latest" }
  | { kind: "popular" }
  | { kind: "account"; accountId: number }
  | { kind: "search"; words: readonly string[] };

/** Further conditions for an entry. */
export interface GalleryTraits {
  baseSystem?: string | undefined;
  arch?: Arch | undefined;
  imageType?: ImageType | undefined;
  tag?: string | undefined;
}

export type GalleryOrder = "latest" | "popular" | "rating";

interface GalleryRange {
  limit: number;
  offset: number;
  traits?: GalleryTraits;
  /** By default, the filter's own order. */
  order?: GalleryOrder | undefined;
}

/**
 * A page of the published appliances, each with its latest published version, and the number of appliances on all
 * pages.
 */
export async function listPublications(
  db: Database,
  filter: GalleryFilter,
  { limit, offset, traits = {}, order }: GalleryRange,
): Promise<{ total: number; entries: ListedPublication[] }> {
  const parts = partsOf(filter);
  const { found } = parts;
  const weight = order === undefined ? parts.weight : weightOf[order];
  // Without a weight, an index gives the order.
  const first = weight === weightOf.latest ? sql`` : sql`weight DESC, `;
  const chosen = chosenBy(parts, traits);
  // Without a selection, the number comes from the table that triggers keep.
  const total = chosen
    ? sql`SELECT count(*) AS total FROM gallery_listings AS l ${chosen}`
    : sql`SELECT max(appliances) AS total FROM gallery_size`;
  // If the page is empty, the result is one row without an entry.
  const rows = await db.all<ReadEntry>(sql`
      ${found}
      SELECT counted.total, p.appliance_id AS applianceId, p.name, p.publisher, p.username, p.homepage, p.description,
        (SELECT count(*) FROM ratings WHERE appliance_id = p.appliance_id) AS ratings,
        (SELECT avg(rating) FROM ratings WHERE appliance_id = p.appliance_id) AS averageRating,
        (SELECT count(*) FROM comments WHERE appliance_id = p.appliance_id) AS comments,
        page.clones, page.testdrives, page.downloads,
        p.base_system AS baseSystem, p.arch, p.version, p.account_id AS accountId, p.public_clonable AS publicClonable,
        p.logo_blob AS logoBlob, p.screen_blob AS screenBlob,
        (SELECT file_size FROM builds WHERE id = json_extract(p.formats, '$[0].buildId')) AS downloadBytes,
        (SELECT image.advisories FROM json_each(p.formats) AS format
          CROSS JOIN image_packages AS image ON image.build_id = format.value ->> 'buildId'
          ORDER BY image.advisories ->> 'fixed' DESC, image.advisories ->> 'open' DESC LIMIT 1) AS advisories,
        (SELECT group_concat(json_extract(value, '$.imageType'), ' ') FROM json_each(p.formats)) AS imageTypes,
        p.published_at AS publishedAt
      FROM (${total}) AS counted
      LEFT JOIN (
        SELECT l.publication_id AS id, l.clones, l.testdrives, l.downloads, ${weight} AS weight FROM gallery_listings AS l ${chosen}
        ORDER BY ${first}l.publication_id DESC LIMIT ${limit} OFFSET ${offset}) AS page
      LEFT JOIN publications AS p ON p.id = page.id ORDER BY page.weight DESC, page.id DESC`);
  return {
    total: rows[0]?.total ?? 0,
    entries: rows.flatMap((row) => {
      if (row.applianceId === null) return [];
      const { total: _, advisories, ...entry } = row;
      return [{ ...entry, advisories: countsIn(advisories) }];
    }),
  };
}

type ReadEntry = { total: number | null } & (
  | { applianceId: null }
  | (Omit<ListedPublication, "advisories"> & { advisories: string | null })
);

const countsIn = (json: string | null) => (json === null ? null : (JSON.parse(json) as AffectedCounts));

interface Parts {
  /** Table expressions that the other parts refer to. */
  found: SQL;
  /** Joins with other tables that select listings. */
  joined?: SQL;
  /** The conditions that select listings. */
  conditions: readonly SQL[];
  /** The order: the largest weight comes first, and among equal weights the last published. */
  weight: SQL;
}

function partsOf(filter: GalleryFilter): Parts {
  const byDate = { found: sql``, conditions: [], weight: weightOf.latest };
  switch (filter.kind) {
    case "latest":
      return byDate;
    case "popular":
      return { ...byDate, weight: weightOf.popular };
    case "account":
      return { ...byDate, conditions: [sql`l.account_id = ${filter.accountId}`] };
    case "search":
      return filter.words.length === 0 ? byDate : searched(filter.words);
    default:
      return filter satisfies never;
  }
}

// Columns: name, description, tags, publisher, username, packages. A match in the name counts more than one in the
// packages.
const weights = sql.raw("10.0, 4.0, 6.0, 4.0, 4.0, 1.0");

const searched = (words: readonly string[]): Parts => ({
  found: sql`WITH found AS MATERIALIZED (
    SELECT rowid AS id, -bm25(publications_fts, ${weights}) AS weight FROM publications_fts
    WHERE publications_fts MATCH ${words.map(prefixPhrase).join(" AND ")})`,
  joined: sql`JOIN found ON found.id = l.publication_id`,
  conditions: [],
  weight: sql`found.weight`,
});

/** Quotes the word, so that FTS5 finds no operator in it. */
const prefixPhrase = (word: string): string => `"${word.replaceAll('"', '""')}" *`;

const weightOf: Readonly<Record<GalleryOrder, SQL>> = {
  latest: sql`0`,
  popular: sql`l.popularity`,
  rating: sql`l.rating`,
};

/**
 * The joins and conditions that select listings. Undefined if all listings are selected. The large rows of publications
 * are read only if a trait needs them, and then only their first columns. CROSS stops SQLite from reading the rows of
 * versions that are not listed.
 */
function chosenBy({ joined, conditions }: Parts, { baseSystem, arch, imageType, tag }: GalleryTraits): SQL | undefined {
  const traits = [
    ...(baseSystem === undefined ? [] : [sql`f.base_system = ${baseSystem}`]),
    ...(arch === undefined ? [] : [sql`f.arch = ${arch}`]),
    ...(imageType === undefined
      ? []
      : [sql`EXISTS (SELECT 1 FROM json_each(f.formats) AS one WHERE one.value ->> 'imageType' = ${imageType})`]),
    ...(tag === undefined ? [] : [sql`EXISTS (SELECT 1 FROM json_each(f.tags) AS one WHERE one.value = ${tag})`]),
  ];
  const all = [...conditions, ...traits];
  const withTraits =
    traits.length === 0 ? joined : sql`${joined} CROSS JOIN publications AS f ON f.id = l.publication_id`;
  return all.length === 0 ? withTraits : sql`${withTraits} WHERE ${sql.join(all, sql` AND `)}`;
}
