import { sql, type SQL } from "drizzle-orm";
import { rest } from "#lib/loop/pace";
import { fromJson, type Database } from "./db.ts";
import { importIdsOf, type ShownImport } from "./package-sql.ts";

const namesInPage = 32;
/** The number of names that one statement reads and writes. */
const namesAtOnce = 2048;

/** Writes the pages of an import whose packages are all stored. */
export async function saveNamePages(db: Database, importId: string): Promise<void> {
  for (let after: string | null = ""; after !== null; after = await lastPaged(db, { importId, after })) {
    await db.packages.run(sql`
      INSERT INTO name_pages (import_id, first, last, names)
      SELECT ${importId}, min(name), max(name), group_concat(lower(name), char(10)) FROM (
        SELECT name, (row_number() OVER (ORDER BY name) - 1) / ${sql.raw(String(namesInPage))} AS page
        FROM (SELECT DISTINCT name FROM packages WHERE import_id = ${importId} AND name > ${after}
              ORDER BY name LIMIT ${namesAtOnce}))
      GROUP BY page`);
    await rest();
  }
}

/** The last name in the pages after a given name; null if there are none. */
async function lastPaged(db: Database, { importId, after }: { importId: string; after: string }) {
  const [found] = await db.packages.all<{ last: string | null }>(sql`
    SELECT max(last) AS last FROM name_pages WHERE import_id = ${importId} AND first > ${after}`);
  return found?.last ?? null;
}

export async function deleteNamePages(db: Database, importId: string): Promise<void> {
  await db.packages.run(sql`DELETE FROM name_pages WHERE import_id = ${importId}`);
}

interface NameSearch {
  repositories: readonly ShownImport[];
  arches: readonly string[];
  /** In lower case. */
  needle: string;
  limit: number;
}

/**
 * Ids of packages whose names match one or two characters. They include each repository's first packages whose names contain the needle:
 * those that begin with it, found by the index of names, and if these are too few, others, found by the pages. All
 * patterns are included. Each import has its own statement, which reads names in order and stops at the limit.
 */
export async function listByShortName(
  db: Database,
  { repositories, arches, ...search }: NameSearch,
): Promise<readonly number[]> {
  const fits = sql`arch IN ${fromJson(arches)}`;
  const found = await inEachImport<number>(db, repositories, (importId) => {
    const held = inImport(importId, { ...search, column: sql`id AS found`, fits });
    return sql`${held} UNION ALL SELECT id FROM packages WHERE import_id = ${importId} AND pattern IS NOT NULL`;
  });
  return [...found.values()].flat();
}

/**
 * For each import, the names that match a text of any length, chosen as in `listByShortName`, in lower case. The
 * packages may be for any architecture.
 */
export function listNames(
  db: Database,
  { repositories, ...search }: Omit<NameSearch, "arches">,
): Promise<Map<string, string[]>> {
  return inEachImport(db, repositories, (importId) =>
    inImport(importId, { ...search, column: sql`DISTINCT lower(name) AS found`, fits: sql`true` }),
  );
}

/** Runs one statement for each import that the repositories show, all in one batch. */
async function inEachImport<Found>(
  db: Database,
  repositories: readonly ShownImport[],
  statement: (importId: string) => SQL,
): Promise<Map<string, Found[]>> {
  const importIds = importIdsOf(repositories);
  const [first, ...others] = importIds.map((importId) =>
    db.packages.select({ found: sql<Found>`found` }).from(sql`(${statement(importId)})`),
  );
  const results = first ? await db.packages.batch([first, ...others]) : [];
  return new Map(importIds.map((importId, nth) => [importId, (results[nth] ?? []).map(({ found }) => found as Found)]));
}

interface ImportSearch extends Omit<NameSearch, "repositories" | "arches"> {
  /** The column to return, as `found`. */
  column: SQL;
  fits: SQL;
}

function inImport(importId: string, search: ImportSearch): SQL {
  const { needle, limit } = search;
  const beginning = needle.length <= maxSpelt ? beginningByIndex(importId, search) : beginningByPages(importId, search);
  return sql`
    WITH beginning AS MATERIALIZED (${beginning}),
    holding AS (
      ${inPages(importId, search, { page: sql`instr(n.names, ${needle}) > 0`, place: sql`> 1` })}
      LIMIT max(0, ${limit} - (SELECT count(*) FROM beginning)))
    SELECT found FROM beginning UNION ALL SELECT found FROM holding`;
}

/** The length of the longest text whose spellings are few enough to look up each of them. */
const maxSpelt = 2;

function beginningByIndex(importId: string, { column, fits, needle, limit }: ImportSearch): SQL {
  const each = writings(needle).map(
    (text) => sql`SELECT found FROM (
      SELECT ${column} FROM packages WHERE import_id = ${importId} AND name >= ${text} AND name < ${text} || char(1114111) AND ${fits}
      ORDER BY name LIMIT ${limit})`,
  );
  return sql.join(each, sql` UNION `);
}

function beginningByPages(importId: string, search: ImportSearch): SQL {
  const page = sql`instr(char(10) || n.names, char(10) || ${search.needle}) > 0`;
  return sql`${inPages(importId, search, { page, place: sql`= 1` })} LIMIT ${search.limit}`;
}

/** The names of some pages in their order. `place` is the condition for where in a name the text is. */
const inPages = (
  importId: string,
  { column, fits, needle }: ImportSearch,
  { page, place }: { page: SQL; place: SQL },
): SQL => sql`
  SELECT ${column} FROM name_pages AS n
  CROSS JOIN packages AS p ON p.import_id = n.import_id AND p.name BETWEEN n.first AND n.last
  WHERE n.import_id = ${importId} AND ${page} AND instr(lower(p.name), ${needle}) ${place} AND ${fits}
  ORDER BY n.first, p.name`;

/** All spellings of a text in upper and lower case: names may begin with any of them. */
const writings = (needle: string): string[] =>
  [...needle].reduce<string[]>(
    (begun, letter) => begun.flatMap((text) => [...new Set([letter, upper(letter)])].map((each) => text + each)),
    [""],
  );

/** Like SQLite's upper(), for ASCII only. */
const upper = (letter: string): string => (/[a-z]/.test(letter) ? letter.toUpperCase() : letter);
