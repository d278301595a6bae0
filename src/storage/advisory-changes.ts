import { lte, max, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { advisoryChanges } from "./schema.ts";

/** The id of the last unprocessed change. Undefined if there is none. */
export async function findLastChange(db: Database): Promise<number | undefined> {
  const [found] = await db.select({ id: max(advisoryChanges.id) }).from(advisoryChanges);
  return found?.id ?? undefined;
}

/**
 * The ids of the package versions whose advisories have changed: those of a source package in a release, or all of a
 * base system.
 */
export async function listChangedPackages(db: Database, upTo: number): Promise<Set<number>> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT v.id FROM (SELECT DISTINCT source, release FROM advisory_changes WHERE id <= ${upTo} AND source <> '') AS c
      CROSS JOIN base_systems AS b CROSS JOIN package_versions AS v
    WHERE c.release IN (SELECT value FROM json_each(b.facts, '$.advisories'))
      AND v.source = c.source AND v.base_system = b.name
    UNION SELECT v.id FROM (SELECT DISTINCT base_system FROM advisory_changes WHERE id <= ${upTo} AND source = '') AS c
      CROSS JOIN package_versions AS v INDEXED BY package_versions_base ON v.base_system = c.base_system`);
  return new Set(rows.map(({ id }) => id));
}

/** Forgets the processed changes. */
export async function deleteChanges(db: Database, upTo: number): Promise<void> {
  await db.delete(advisoryChanges).where(lte(advisoryChanges.id, upTo));
}
