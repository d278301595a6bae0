import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm";
import { rest } from "#lib/loop/pace";
import { jsonBatches, type SearchRow } from "#lib/repodata/search-rows";
import { fromJson, type Database } from "./db.ts";
import { deleteNamePages, listByShortName, listNames } from "./name-pages.ts";
import { holds, rank, type ShownImport, shownImports, showing, withRepositories } from "./package-sql.ts";
import { StatementSize } from "./statement-size.ts";

/** A package as shown in search results. */
export interface FoundPackage {
  id: number;
  repositoryId: number;
  name: string;
  version: string;
  release: string;
  arch: string;
  /** Type and value are empty for a pattern without a file. */
  checksumType: string;
  checksum: string;
  /** The pattern that the package represents; null or empty if none. */
  pattern: string | null;
}

/**
 * How many bytes of JSON one statement adds, and how many rows one statement removes. Each row also costs a few writes
 * in the trigram index.
 */
const added = new StatementSize({ first: 64_000, least: 16_000, most: 900_000 });
const removed = new StatementSize({ first: 200, least: 50, most: 5000 });

/**
 * Adds packages of an import, and returns their size in bytes. Searches find them only when a repository shows that
 * import.
 */
export async function savePackages(db: Database, importId: string, rows: Iterable<SearchRow>): Promise<number> {
  let bytes = 0;
  for (const batch of jsonBatches(rows, () => added.size)) {
    const batchBytes = Buffer.byteLength(batch);
    bytes += batchBytes;
    const { meta } = await db.packages.run(sql`
      INSERT INTO packages (import_id, name, epoch, version, release, arch, summary, description,
        size_bytes, installed_bytes, checksum_type, checksum, location, pattern)
      SELECT ${importId}, value ->> 'name', value ->> 'epoch', value ->> 'version', value ->> 'release',
        value ->> 'arch', value ->> 'summary', value ->> 'description', value ->> 'sizeBytes', value ->> 'installedBytes',
        coalesce(value ->> '$.checksum.type', ''), coalesce(value ->> '$.checksum.hex', ''),
        coalesce(value ->> 'location', ''), value ->> 'pattern'
      FROM json_each(${batch})`);
    added.learn(batchBytes, meta.duration);
    await rest();
  }
  return bytes;
}

export async function deletePackages(db: Database, importId: string): Promise<void> {
  for (;;) {
    const { meta } = await db.packages.run(sql`
      DELETE FROM packages WHERE id IN (SELECT id FROM packages WHERE import_id = ${importId} LIMIT ${removed.size})`);
    // The count includes the changes of triggers, so it only shows whether there were any.
    if (meta.changes === 0) break;
    removed.learn(removed.size, meta.duration);
    await rest();
  }
  await deleteNamePages(db, importId);
}

/** The next imports after an id that have packages. It looks up each in the index, and reads no package twice. */
export async function listImportsWithPackages(
  db: Database,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db.packages.all<{ id: string }>(sql`
    WITH RECURSIVE one (id) AS (
      SELECT ${firstAfter(sql`${after}`)} UNION ALL SELECT ${firstAfter(sql`one.id`)} FROM one WHERE one.id IS NOT NULL)
    SELECT id FROM one WHERE id IS NOT NULL LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

const firstAfter = (id: SQL) => sql`(SELECT min(import_id) FROM packages WHERE import_id > ${id})`;

export interface PackageSearch {
  repositories: readonly ShownImport[];
  /** Architectures as packages name them. Packages of other architectures are left out. */
  arches: readonly string[];
  q: string;
  limit: number;
}

/**
 * Packages and patterns whose name contains the text, ignoring case. Exact matches come first, then names that begin
 * with it.
 */
export async function searchPackages(
  db: Database,
  { repositories, arches, q, limit }: PackageSearch,
): Promise<FoundPackage[]> {
  const needle = q.toLowerCase();
  return db.packages.all<FoundPackage>(sql`
    ${withRepositories(repositories)}
    SELECT p.id, r.id AS repositoryId, p.name, p.version, p.release, p.arch,
      p.checksum_type AS checksumType, p.checksum, p.pattern
    FROM packages AS p ${showing}
    WHERE p.import_id IN ${shownImports(repositories)}
      AND p.arch IN ${fromJson(arches)}
      AND ${await candidates(db, { repositories, arches, needle, limit })}
      AND (${holds(sql`p.name`, needle)} OR ${holds(sql`p.pattern`, needle)})
    ORDER BY ${rank(sql`p.name`, needle)}, p.name, r.id, p.id
    LIMIT ${limit}`);
}

/** A package in the index of names (domain/repositories/name-index.ts). */
export interface IndexedPackage {
  id: number;
  name: string;
  /** The version with its release. */
  version: string;
  arch: string;
  checksumType: string;
  checksum: string;
  /** The pattern that the package represents; empty if none. */
  pattern: string;
}

/** Packages of an import in the order of name and id, after a given one. None of their texts contains a line break. */
export const listForNameIndex = (
  db: Database,
  { importId, after, limit }: { importId: string; after: Pick<IndexedPackage, "name" | "id">; limit: number },
): Promise<IndexedPackage[]> =>
  db.packages.all<IndexedPackage>(sql`
    SELECT id, replace(name, char(10), ' ') AS name,
      replace(version || iif(release = '', '', '-' || release), char(10), ' ') AS version,
      arch, checksum_type AS checksumType, checksum, coalesce(pattern, '') AS pattern
    FROM packages
    WHERE import_id = ${importId} AND name >= ${after.name} AND (name > ${after.name} OR id > ${after.id})
    ORDER BY name, id LIMIT ${limit}`);

/** Facts that only detailed searches return. */
export interface PackageDetails {
  summary: string;
  downloadSizeBytes: number;
  installSizeBytes: number;
}

/** Details of packages, by id. */
export async function describePackages(db: Database, ids: readonly number[]): Promise<Map<number, PackageDetails>> {
  const rows = await db.packages.all<PackageDetails & { id: number }>(sql`
    SELECT p.id, p.summary, p.size_bytes AS downloadSizeBytes, p.installed_bytes AS installSizeBytes
    FROM json_each(${JSON.stringify(ids)}) AS asked CROSS JOIN packages AS p ON p.id = asked.value`);
  return new Map(rows.map(({ id, ...details }) => [id, details]));
}

/** The facts about a package that are needed to choose between its versions. */
export interface PackageVersion extends PackageDetails {
  repositoryId: number;
  name: string;
  epoch: number;
  version: string;
  release: string;
  arch: string;
  /** The pattern that the package represents; null if none. */
  pattern: string | null;
}

/** The maximum number of versions to read. An account's own repository may have very many versions of one name. */
export const maxVersions = 5000;

/** All packages with these names. */
export const listVersions = (
  db: Database,
  { repositories, arches, names }: { repositories: readonly ShownImport[]; arches: readonly string[]; names: string[] },
): Promise<PackageVersion[]> =>
  db.packages.all<PackageVersion>(sql`
    ${withRepositories(repositories)}
    SELECT r.id AS repositoryId, p.name, p.epoch, p.version, p.release, p.arch, p.pattern, p.summary,
      p.size_bytes AS downloadSizeBytes, p.installed_bytes AS installSizeBytes
    FROM json_each(${JSON.stringify(names)}) AS asked CROSS JOIN packages AS p ON p.name = asked.value ${showing}
    WHERE p.import_id IN ${shownImports(repositories)} AND p.arch IN ${fromJson(arches)}
    ORDER BY asked.key, p.id LIMIT ${maxVersions}`);

/**
 * For each repository, at most `limit` lower-case names of packages that contain the text, best matches first. It reads
 * only the name pages of these repositories, because the trigram index contains the packages of all accounts.
 */
export async function searchNames(
  db: Database,
  { repositories, q, limit }: Pick<PackageSearch, "repositories" | "q" | "limit">,
): Promise<Map<number, string[]>> {
  const needle = q.toLowerCase();
  const byImport = await listNames(db, { repositories, needle, limit });
  return new Map(
    repositories.flatMap(({ id, importId }) => {
      const names = (importId !== null && byImport.get(importId)) || [];
      return names.length === 0 ? [] : [[id, bestNames(names, { needle, limit })]];
    }),
  );
}

/** Exact names first, then names that begin with the text, in the order of `rank`. */
function bestNames(names: readonly string[], { needle, limit }: { needle: string; limit: number }): string[] {
  const rankOf = (name: string) => (name === needle ? 0 : name.startsWith(needle) ? 1 : 2);
  const inOrder = (one: string, other: string) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1);
  return names.toSorted(inOrder).slice(0, limit);
}

/** The maximum number of names to find for each piece of a misspelt name. */
const maxSimilar = 300;
const maxPatterns = 2000;

/**
 * Names of packages that contain one of the pieces. It reads only the name pages (`saveNamePages`) of these
 * repositories, as `searchNames` does.
 */
export async function similarNames(
  db: Database,
  {
    repositories,
    arches,
    pieces,
  }: { repositories: readonly ShownImport[]; arches: readonly string[]; pieces: string[] },
): Promise<string[]> {
  if (pieces.length === 0) return [];
  const ofPiece = (piece: string) => sql`
    SELECT name FROM (
      SELECT p.name FROM name_pages AS n
      CROSS JOIN packages AS p ON p.import_id = n.import_id AND p.name BETWEEN n.first AND n.last
      WHERE n.import_id IN ${shownImports(repositories)} AND instr(n.names, ${piece}) > 0
        AND ${holds(sql`p.name`, piece)} AND p.pattern IS NULL AND p.arch IN ${fromJson(arches)}
      LIMIT ${maxSimilar})`;
  const rows = await db.packages.all<{ name: string }>(sql.join(pieces.map(ofPiece), sql` UNION `));
  return rows.map(({ name }) => name);
}

/** The patterns of these repositories. */
export async function listPatterns(db: Database, repositories: readonly ShownImport[]): Promise<string[]> {
  const rows = await db.packages.all<{ pattern: string }>(sql`
    SELECT DISTINCT pattern FROM packages
    WHERE import_id IN ${shownImports(repositories)} AND pattern IS NOT NULL LIMIT ${maxPatterns}`);
  return rows.map(({ pattern }) => pattern);
}

/** A superset of the best matches, found with indexes. */
async function candidates(
  db: Database,
  { needle, ...search }: Pick<PackageSearch, "repositories" | "arches" | "limit"> & { needle: string },
): Promise<SQL> {
  if (hasTrigram(needle)) return byTrigrams(search.repositories, needle);
  const ids = await listByShortName(db, { needle, ...search });
  return sql`p.id IN ${fromJson(ids)}`;
}

const hasTrigram = (needle: string): boolean => [...needle].length >= 3;

/** D1 accepts patterns of up to 50 bytes, and a character takes at most four. */
const maxCharacters = 12;

/**
 * A superset of the matches: `_` and `%` are not escaped, because LIKE with ESCAPE does not use the trigram index. Only
 * the beginning of a long text is used.
 */
function byTrigrams(repositories: readonly ShownImport[], needle: string): SQL {
  return sql`p.id IN (
    SELECT rowid FROM packages_fts WHERE name LIKE ${`%${[...needle].slice(0, maxCharacters).join("")}%`}
    UNION ALL SELECT id FROM packages
    WHERE import_id IN ${shownImports(repositories)} AND pattern IS NOT NULL)`;
}
