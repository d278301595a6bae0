/** Parts of statements about packages. `p` is a row of `packages`, and `r` a repository that shows its import. */
import { sql, type SQL } from "drizzle-orm";
import { fromJson } from "./db.ts";
import type { Repository } from "./repositories.ts";

/** A repository, and the import that it shows. Their rows are in the other database, so statements get them as JSON. */
export type ShownImport = Pick<Repository, "id" | "importId">;

/** The table `r` of these repositories, at the beginning of a statement. Read once, not for each package. */
export const withRepositories = (repositories: readonly ShownImport[]) => {
  const shown = repositories.map(({ id, importId }) => ({ id, importId }));
  return sql`WITH r (id, import_id) AS MATERIALIZED (
      SELECT value ->> 'id', value ->> 'importId' FROM json_each(${JSON.stringify(shown)}))`;
};

/**
 * The repositories that show a package's import. Joined after the packages, which the indexes have found
 * (https://sqlite.org/optoverview.html#crossjoin).
 */
export const showing = sql`CROSS JOIN r ON r.import_id = p.import_id`;

/** The ids of the imports that these repositories show, each once. */
export const importIdsOf = (repositories: readonly ShownImport[]): string[] => [
  ...new Set(repositories.flatMap(({ importId }) => importId ?? [])),
];

/** The imports that these repositories show. */
export const shownImports = (repositories: readonly ShownImport[]) => fromJson(importIdsOf(repositories));

/** lower() handles only ASCII, but package names contain nothing else. */
export const holds = (column: SQL, needle: string) => sql`instr(lower(${column}), lower(${needle})) > 0`;

/** 0 for a name that equals the text, 1 for one that begins with it, 2 for one that contains it, 3 for all others. */
export const rank = (name: SQL, needle: string) =>
  sql`CASE instr(lower(${name}), lower(${needle})) WHEN 1 THEN length(${name}) > length(${needle}) WHEN 0 THEN 3 ELSE 2 END`;
