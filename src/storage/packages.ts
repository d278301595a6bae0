import { sql, type SQL } from "drizzle-orm";
import { jsonBatches, type SearchRow } from "#repodata/search-rows";
import type { Database } from "./db.ts";

/** A package as search shows it. */
export interface FoundPackage {
  repositoryId: number;
  name: string;
  epoch: number;
  version: string;
  release: string;
  arch: string;
  /** Both empty: there is no file, only a pattern. */
  checksumType: string;
  checksum: string;
  pattern: string | null;
}

/** Rows that one statement removes: each costs a few writes in the index of trigrams too. */
const deletedAtOnce = 5000;

/** Adds packages of an import. They cannot be found before the repository shows that import. */
export async function savePackages(
  db: Database,
  { repositoryId, importId }: { repositoryId: number; importId: string },
  rows: Iterable<SearchRow>,
): Promise<void> {
  for (const batch of jsonBatches(rows)) {
    await db.run(sql`
      INSERT INTO packages (repository_id, import_id, name, epoch, version, release, arch, summary, description,
        size_bytes, installed_bytes, checksum_type, checksum, location, pattern)
      SELECT ${repositoryId}, ${importId}, value ->> 'name', value ->> 'epoch', value ->> 'version', value ->> 'release',
        value ->> 'arch', value ->> 'summary', value ->> 'description', value ->> 'sizeBytes', value ->> 'installedBytes',
        coalesce(value ->> '$.checksum.type', ''), coalesce(value ->> '$.checksum.hex', ''),
        coalesce(value ->> 'location', ''), value ->> 'pattern'
      FROM json_each(${batch})`);
  }
}

/** Removes the rows of an import that failed. */
export const deleteImport = (db: Database, importId: string): Promise<void> =>
  deleteWhere(db, sql`import_id = ${importId}`);

/** Removes the rows of all imports of a repository but the one that it shows. Not while another import runs. */
export const deleteHidden = (db: Database, repositoryId: number): Promise<void> =>
  deleteWhere(
    db,
    sql`repository_id = ${repositoryId}
        AND import_id IS NOT (SELECT import_id FROM repositories WHERE id = ${repositoryId})`,
  );

/** Repositories with rows that nobody can find, where no import can still be running. */
export async function listWithHidden(db: Database, startedBefore: Date): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT DISTINCT p.repository_id AS id FROM (SELECT DISTINCT repository_id, import_id FROM packages) AS p
    LEFT JOIN repositories AS r ON r.id = p.repository_id
    WHERE r.id IS NULL OR (p.import_id IS NOT r.import_id AND r.checked_at < ${startedBefore.getTime()})`);
  return rows.map(({ id }) => id);
}

interface PackageSearch {
  repositoryIds: readonly number[];
  /** As packages name them: others are left out. */
  arches: readonly string[];
  q: string;
  allFields: boolean;
  limit: number;
}

/**
 * Packages and patterns whose name holds the text, in any case; exact names first, then those that begin with it. With
 * `allFields` in summaries and descriptions too.
 */
export async function searchPackages(
  db: Database,
  { repositoryIds, arches, q, allFields, limit }: PackageSearch,
): Promise<FoundPackage[]> {
  const needle = q.toLowerCase();
  const fields = allFields ? ["name", "pattern", "summary", "description"] : ["name", "pattern"];
  const matches = fields.map((field) => holds(sql.raw(`p.${field}`), needle));
  return db.all<FoundPackage>(sql`
    SELECT p.repository_id AS repositoryId, p.name, p.epoch, p.version, p.release, p.arch,
      p.checksum_type AS checksumType, p.checksum, p.pattern
    FROM packages AS p
    WHERE p.import_id IN ${shownImports(repositoryIds)}
      AND p.arch IN (SELECT value FROM json_each(${JSON.stringify(arches)}))
      AND ${candidates(repositoryIds, needle, allFields)}
      AND (${sql.join(matches, sql` OR `)})
    ORDER BY ${rank(sql`p.name`, needle)}, p.name, p.repository_id, p.id
    LIMIT ${limit}`);
}

/** For each repository the lower-cased names of packages that hold the text, the best first, at most `limit`. */
export async function searchNames(
  db: Database,
  { repositoryIds, q, limit }: { repositoryIds: number[]; q: string; limit: number },
): Promise<Map<number, string[]>> {
  const needle = q.toLowerCase();
  const rows = await db.all<{ repositoryId: number; name: string }>(sql`
    SELECT repositoryId, name FROM (
      SELECT repositoryId, name,
        row_number() OVER (PARTITION BY repositoryId ORDER BY ${rank(sql`name`, needle)}, name) AS place
      FROM (
        SELECT DISTINCT p.repository_id AS repositoryId, lower(p.name) AS name
        FROM packages AS p
        WHERE p.import_id IN ${shownImports(repositoryIds)}
          AND ${candidates(repositoryIds, needle, false)}
          AND ${holds(sql`p.name`, needle)}))
    WHERE place <= ${limit} ORDER BY repositoryId, place`);
  const names = new Map<number, string[]>();
  for (const { repositoryId, name } of rows) names.set(repositoryId, [...(names.get(repositoryId) ?? []), name]);
  return names;
}

const shownImports = (repositoryIds: readonly number[]) =>
  sql`(SELECT import_id FROM repositories WHERE id IN (SELECT value FROM json_each(${JSON.stringify(repositoryIds)})))`;

/** lower() knows ASCII only, which is all that names of packages have. */
const holds = (column: SQL, needle: string) => sql`instr(lower(${column}), lower(${needle})) > 0`;

const rank = (name: SQL, needle: string) =>
  sql`CASE instr(lower(${name}), lower(${needle})) WHEN 1 THEN length(${name}) > length(${needle}) WHEN 0 THEN 3 ELSE 2 END`;

/**
 * A superset of the matches that the indexes give: `_` and `%` are not escaped, since LIKE with ESCAPE does not use the
 * index of trigrams. That needs three characters, and D1 takes patterns up to 50 bytes: other texts look at every name, and
 * `all fields` at every description, of these repositories.
 */
function candidates(repositoryIds: readonly number[], needle: string, allFields: boolean): SQL {
  const pattern = `%${needle}%`;
  const fits = [...needle].length >= 3 && new TextEncoder().encode(pattern).byteLength <= 50;
  if (!fits || allFields) return sql`true`;
  return sql`p.id IN (
    SELECT rowid FROM packages_fts WHERE name LIKE ${pattern}
    UNION ALL SELECT id FROM packages
    WHERE import_id IN ${shownImports(repositoryIds)} AND pattern IS NOT NULL)`;
}

async function deleteWhere(db: Database, condition: SQL): Promise<void> {
  let deleted: number;
  do {
    const { meta } = await db.run(
      sql`DELETE FROM packages WHERE id IN (SELECT id FROM packages WHERE ${condition} LIMIT ${deletedAtOnce})`,
    );
    deleted = meta.changes;
  } while (deleted > 0);
}
