import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { packageNeeds, serviceSettings, storedPackages } from "./schema.ts";

export type StoredPackageRow = typeof storedPackages.$inferSelect;
export type NeededPackage = Pick<StoredPackageRow, "repositoryId" | "checksum" | "size">;

/** The row of `service_settings` with the bytes of all stored packages. */
const bytesName = "stored_package_bytes";

/** Records that a build needs these packages. Repeating it changes nothing. */
export async function needPackages(db: Database, buildId: number, packages: readonly NeededPackage[]): Promise<void> {
  if (packages.length === 0) return;
  const given = JSON.stringify(packages.map(({ repositoryId, checksum, size }) => [repositoryId, checksum, size]));
  const wanted = { repositoryId: sql`value ->> 0`, checksum: sql`value ->> 1`, size: sql`value ->> 2` };
  const theirs = sql`FROM json_each(${given}) CROSS JOIN stored_packages
    ON stored_packages.repository_id = value ->> 0 AND stored_packages.checksum = value ->> 1 WHERE true`;
  await db.batch([
    insertFrom(db, storedPackages, wanted, sql`FROM json_each(${given}) WHERE true`).onConflictDoUpdate({
      target: [storedPackages.repositoryId, storedPackages.checksum],
      set: { releasedAt: null },
      setWhere: isNotNull(storedPackages.releasedAt),
    }),
    insertFrom(db, packageNeeds, { buildId, packageId: sql`stored_packages.id` }, theirs).onConflictDoNothing(),
  ]);
}

export const listNeededPackages = (db: Database, buildId: number): Promise<StoredPackageRow[]> =>
  db
    .select()
    .from(storedPackages)
    .where(
      inArray(
        storedPackages.id,
        db.select({ id: packageNeeds.packageId }).from(packageNeeds).where(eq(packageNeeds.buildId, buildId)),
      ),
    );

/** A package that a build needs; undefined if the build was not frozen with it. */
export async function findNeededPackage(
  db: Database,
  { buildId, packageId }: { buildId: number; packageId: number },
): Promise<StoredPackageRow | undefined> {
  const need = and(eq(packageNeeds.buildId, buildId), eq(packageNeeds.packageId, packageId));
  const [found] = await db
    .select({ row: storedPackages })
    .from(packageNeeds)
    .innerJoin(storedPackages, eq(storedPackages.id, packageNeeds.packageId))
    .where(need);
  return found?.row;
}

/** Records where a package's file is. False if another agent was faster or all files would exceed `maxBytes`. */
export async function saveStoredPackage(
  db: Database,
  { id, maxBytes, ...file }: { id: number; maxBytes: number; blob: string; pieces: number; size: number },
): Promise<boolean> {
  const bytes = sql`coalesce((SELECT value + 0 FROM service_settings WHERE name = ${bytesName}), 0)`;
  const [saved] = await db.batch([
    db
      .update(storedPackages)
      .set(file)
      .where(and(eq(storedPackages.id, id), sql`blob IS NULL`, sql`${bytes} + ${file.size} <= ${maxBytes}`))
      .returning({ id: storedPackages.id }),
    insertFrom(
      db,
      serviceSettings,
      { name: bytesName, value: String(file.size) },
      sql`WHERE changes() > 0`,
    ).onConflictDoUpdate({ target: serviceSettings.name, set: { value: sql`value + excluded.value` } }),
  ]);
  return saved.length > 0;
}

/** The next builds after this id that needed packages, in order, and whether each still needs them. */
export async function listBuildsInNeed(
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number; needs: boolean }[]> {
  // The index skips from build to build, however many packages a build needs.
  const rows = await db.all<{ id: number; needs: number }>(sql`
    WITH RECURSIVE next(id) AS (
      SELECT min(build_id) FROM package_needs WHERE build_id > ${after}
      UNION ALL SELECT (SELECT min(build_id) FROM package_needs WHERE build_id > next.id) FROM next
      WHERE next.id IS NOT NULL LIMIT ${limit})
    SELECT next.id, EXISTS (SELECT 1 FROM builds WHERE builds.id = next.id AND (status IN ('queued', 'running')
      OR (status = 'finished' AND retired_at IS NULL AND expired_at IS NULL))) AS needs
    FROM next WHERE next.id IS NOT NULL`);
  return rows.map(({ id, needs }) => ({ id, needs: needs === 1 }));
}

/** Records that these builds need no packages. An hour later, packages that no other build needs are deleted. */
export async function releasePackages(db: Database, buildIds: readonly number[], now: Date): Promise<void> {
  const ids = fromJson(buildIds);
  await db.batch([
    db
      .update(storedPackages)
      .set({ releasedAt: now })
      .where(
        sql`id IN (SELECT package_id FROM package_needs WHERE build_id IN ${ids})
          AND NOT EXISTS (SELECT 1 FROM package_needs AS other
            WHERE other.package_id = stored_packages.id AND other.build_id NOT IN ${ids})`,
      ),
    db.delete(packageNeeds).where(sql`build_id IN ${ids}`),
  ]);
}

/** Deletes packages that no build has needed since that moment, and returns the folders of their files. */
export async function deleteReleasedPackages(
  db: Database,
  { before, limit }: { before: Date; limit: number },
): Promise<Pick<StoredPackageRow, "blob" | "pieces">[]> {
  const gone = sql`(SELECT id FROM stored_packages WHERE released_at < ${before.getTime()}
    ORDER BY released_at, id LIMIT ${limit})`;
  const [, deleted] = await db.batch([
    db
      .update(serviceSettings)
      .set({
        value: sql`value - coalesce((SELECT sum(size) FROM stored_packages WHERE blob IS NOT NULL AND id IN ${gone}), 0)`,
      })
      .where(eq(serviceSettings.name, bytesName)),
    db
      .delete(storedPackages)
      .where(sql`id IN ${gone}`)
      .returning({ blob: storedPackages.blob, pieces: storedPackages.pieces }),
  ]);
  return deleted;
}

/** Returns those of the folders that a row names. */
export async function listStoredBlobs(db: Database, blobs: readonly string[]): Promise<Set<string>> {
  const named = await db
    .select({ blob: storedPackages.blob })
    .from(storedPackages)
    .where(and(isNotNull(storedPackages.blob), inArray(storedPackages.blob, fromJson(blobs))));
  return new Set(named.flatMap(({ blob }) => blob ?? []));
}
