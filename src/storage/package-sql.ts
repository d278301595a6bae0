/** Parts of statements about packages. `p` is a row of `packages`, and `r` one of `repositories`. */
import { sql, type SQL } from "drizzle-orm";
import { fromJson } from "./db.ts";

/**
 * The repositories that show a package's import. Joined after the packages, which the indexes have found
 * (https://sqlite.org/optoverview.html#crossjoin).
 */
export const showing = (repositoryIds: readonly number[]) =>
  sql`CROSS JOIN repositories AS r ON r.import_id = p.import_id
        AND r.id IN ${fromJson(repositoryIds)}`;

/** The imports that these repositories show. */
export const shownImports = (repositoryIds: readonly number[]) =>
  sql`(SELECT import_id FROM repositories WHERE id IN ${fromJson(repositoryIds)})`;

/** lower() handles only ASCII, but package names contain nothing else. */
export const holds = (column: SQL, needle: string) => sql`instr(lower(${column}), lower(${needle})) > 0`;

/** 0 for a name that equals the text, 1 for one that begins with it, 2 for one that contains it, 3 for all others. */
export const rank = (name: SQL, needle: string) =>
  sql`CASE instr(lower(${name}), lower(${needle})) WHEN 1 THEN length(${name}) > length(${needle}) WHEN 0 THEN 3 ELSE 2 END`;
