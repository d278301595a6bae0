import { sql } from "drizzle-orm";
import { rest } from "#lib/loop/pace";
import { fromJson, type Database } from "./db.ts";
import { holds, rank, showing, type ShownImport, withRepositories } from "./package-sql.ts";
import type { FoundPackage, PackageSearch } from "./packages.ts";
import { StatementSize } from "./statement-size.ts";

/** How many packages one statement reads. For a large distribution, all of them together take a third of a second. */
const read = new StatementSize({ first: 1000, least: 200, most: 50_000, targetMs: 5 });

/** A package that contains the text, or the last package that a statement has read. */
interface ReadPackage {
  id: number;
  name: string;
  rank: number;
  matches: 0 | 1;
}

interface Candidate {
  id: number;
  name: string;
  rank: number;
  /** The first repository that shows the package. */
  repositoryId: number;
}

/**
 * Packages and patterns with the text in their name, summary or description, ignoring case, in the order of
 * searchPackages. No index contains descriptions, so this reads all packages in several statements, and rests between
 * them.
 */
export async function searchTexts(db: Database, { arches, q, limit, ...of }: PackageSearch): Promise<FoundPackage[]> {
  const needle = q.toLowerCase();
  const repositories = of.repositories.toSorted((left, right) => left.id - right.id);
  let best: Candidate[] = [];
  // Two repositories can show the same import.
  for (const [importId, [first]] of Map.groupBy(repositories, (one) => one.importId)) {
    if (importId === null || !first) continue;
    const repositoryId = first.id;
    for await (const part of matchesInParts(db, { importId, arches, needle })) {
      best = best
        .concat(part.map(({ id, name, rank }) => ({ id, name, rank, repositoryId })))
        .toSorted(inOrder)
        .slice(0, limit);
    }
  }
  return listFound(db, { repositories, ids: best.map(({ id }) => id), needle, limit });
}

const inOrder = (left: Candidate, right: Candidate): number =>
  left.rank - right.rank ||
  (left.name < right.name ? -1 : left.name > right.name ? 1 : 0) ||
  left.repositoryId - right.repositoryId ||
  left.id - right.id;

/** The packages of an import that may match. */
interface PartsOf {
  importId: string;
  arches: readonly string[];
  needle: string;
}

async function* matchesInParts(db: Database, search: PartsOf): AsyncGenerator<ReadPackage[]> {
  let after: Pick<ReadPackage, "name" | "id"> | undefined = { name: "", id: 0 };
  while (after) {
    const size = read.size;
    const { rows, ms } = await readPart(db, search, { after, size });
    read.learn(size, ms);
    yield rows.filter(({ matches }) => matches);
    after = rows.at(-1);
    await rest();
  }
}

async function readPart(
  db: Database,
  { importId, arches, needle }: PartsOf,
  { after, size }: { after: Pick<ReadPackage, "name" | "id">; size: number },
): Promise<{ rows: ReadPackage[]; ms: number }> {
  const matches = ["name", "pattern", "summary", "description"].map((field) => holds(sql.raw(`p.${field}`), needle));
  const { results, meta } = await db.packages.run(sql`
    WITH part AS MATERIALIZED (
      SELECT id, name FROM packages
      WHERE import_id = ${importId} AND name >= ${after.name} AND (name > ${after.name} OR id > ${after.id})
      ORDER BY name, id LIMIT ${size})
    SELECT p.id, p.name, ${rank(sql`p.name`, needle)} AS rank,
      p.arch IN ${fromJson(arches)} AND (${sql.join(matches, sql` OR `)}) AS matches
    FROM part CROSS JOIN packages AS p ON p.id = part.id
    WHERE matches OR p.id = (SELECT id FROM part ORDER BY name DESC, id DESC LIMIT 1)
    ORDER BY part.name, part.id`);
  return { rows: results as ReadPackage[], ms: meta.duration };
}

/** The packages with these ids, once for each repository that shows them. */
const listFound = (
  db: Database,
  found: { repositories: readonly ShownImport[]; ids: readonly number[]; needle: string; limit: number },
): Promise<FoundPackage[]> =>
  db.packages.all<FoundPackage>(sql`
    ${withRepositories(found.repositories)}
    SELECT p.id, r.id AS repositoryId, p.name, p.version, p.release, p.arch,
      p.checksum_type AS checksumType, p.checksum, p.pattern
    FROM json_each(${JSON.stringify(found.ids)}) AS best CROSS JOIN packages AS p ON p.id = best.value
      ${showing}
    ORDER BY ${rank(sql`p.name`, found.needle)}, p.name, r.id, p.id
    LIMIT ${found.limit}`);
