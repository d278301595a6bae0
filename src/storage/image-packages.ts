import { and, desc, eq, lt, sql } from "drizzle-orm";
import { rest } from "#lib/loop/pace";
import { isDownloadable } from "./builds-of-appliance.ts";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { appliances, builds, imagePackages, packageVersions } from "./schema.ts";
import { imageColumns, type ListedImage } from "./stored-images.ts";

export type PackageVersionRow = typeof packageVersions.$inferSelect;
export type ListedPackage = Omit<PackageVersionRow, "id" | "baseSystem">;

// The condition of the index `builds_unlisted`.
const isUnlisted = sql.raw(
  "status = 'finished' AND retired_at IS NULL AND expired_at IS NULL AND has_listed_packages = 0",
);

/** The next images after this id whose packages are not listed yet, and their base systems. */
export const listUnlistedImages = (
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number; uid: string; baseSystem: string }[]> =>
  db.all(sql`
    SELECT b.id, b.uid, appliances.base_system AS baseSystem
    FROM (SELECT id, uid, appliance_id FROM builds INDEXED BY builds_unlisted
      WHERE ${isUnlisted} AND id > ${after} ORDER BY id LIMIT ${limit}) AS b
    CROSS JOIN appliances ON appliances.id = b.appliance_id ORDER BY b.id`);

/** Stores the package list of an image, unless the image is gone. Repeating it changes nothing. */
export async function saveImagePackages(
  db: Database,
  { id, baseSystem }: { id: number; baseSystem: string },
  packages: readonly ListedPackage[],
): Promise<void> {
  const ids = await idsOf(db, baseSystem, packages);
  const image = { accountId: sql`account_id`, buildId: sql`id`, packages: distancesOf(ids) };
  await db.batch([
    insertFrom(db, imagePackages, image, sql`FROM builds WHERE id = ${id} AND ${isUnlisted}`).onConflictDoNothing(),
    db.update(builds).set({ hasListedPackages: true }).where(eq(builds.id, id)),
  ]);
}

/** Stores the versions that are new. Returns the ids of all of them, in their order. */
async function idsOf(db: Database, baseSystem: string, packages: readonly ListedPackage[]): Promise<number[]> {
  const given = JSON.stringify(packages);
  const listed = {
    name: sql`value ->> 'name'`,
    version: sql`value ->> 'version'`,
    arch: sql`value ->> 'arch'`,
    source: sql`value ->> 'source'`,
    sourceVersion: sql`value ->> 'sourceVersion'`,
  };
  const [, found] = await db.batch([
    insertFrom(
      db,
      packageVersions,
      { id: sql`NULL`, baseSystem, ...listed },
      sql`FROM json_each(${given}) WHERE true`,
    ).onConflictDoNothing(),
    db
      .selectDistinct({ id: sql<number>`p.id`.as("id") })
      .from(sql`json_each(${given}) CROSS JOIN package_versions AS p`)
      .where(
        sql`p.name = ${listed.name} AND p.base_system = ${baseSystem} AND p.version = ${listed.version}
          AND p.arch = ${listed.arch} AND p.source = ${listed.source} AND p.source_version = ${listed.sourceVersion}`,
      )
      .orderBy(sql`id`),
  ]);
  return found.map((row) => row.id);
}

const distancesOf = (ids: readonly number[]): number[] => ids.map((id, at) => id - (ids[at - 1] ?? 0));

export function idsIn(distances: readonly number[]): number[] {
  let id = 0;
  return distances.map((distance) => (id += distance));
}

/** The maximum number of versions of a package, in all base systems, that one query reads. */
const maxVersions = 5000;

/** The versions of a package that any image has or has had. */
export const listPackageVersions = (
  db: Database,
  by: { name: string } | { source: string },
): Promise<PackageVersionRow[]> =>
  db
    .select()
    .from(packageVersions)
    .where("name" in by ? eq(packageVersions.name, by.name) : eq(packageVersions.source, by.source))
    .limit(maxVersions);

/** An image that has some of the packages. */
export interface ImageWith extends ListedImage {
  packageIds: number[];
}

interface Wanted {
  accountId: number;
  /** The only appliance to search; null for all appliances of the account. */
  only: number | null;
  packageIds: readonly number[];
  before: number | undefined;
  limit: number;
}

/** How many images one statement reads. */
const imagesAtOnce = 500;

/** The images of an account that have at least one of these packages, newest first. */
export async function listImagesWith(
  db: Database,
  { accountId, only, packageIds, before, limit }: Wanted,
): Promise<ImageWith[]> {
  const wanted = new Set(packageIds);
  const found: ImageWith[] = [];
  let next = before;
  do {
    const page = await imagePage(db, { accountId, only, before: next });
    for (const { packages, ...image } of page) {
      const theirs = idsIn(packages).filter((id) => wanted.has(id));
      if (theirs.length > 0) found.push({ ...image, packageIds: theirs });
    }
    next = page.length === imagesAtOnce ? page.at(-1)?.id : undefined;
    await rest();
  } while (next !== undefined && found.length < limit);
  return found.slice(0, limit);
}

const imagePage = (db: Database, { accountId, only, before }: Pick<Wanted, "accountId" | "only" | "before">) =>
  db
    .select({ ...imageColumns, packages: imagePackages.packages })
    .from(imagePackages)
    .crossJoin(builds)
    .crossJoin(appliances)
    .where(
      and(
        eq(imagePackages.accountId, accountId),
        before === undefined ? undefined : lt(imagePackages.buildId, before),
        sql`${builds.id} = ${imagePackages.buildId} AND ${appliances.id} = ${builds.applianceId}`,
        isDownloadable,
        only === null ? undefined : eq(builds.applianceId, only),
      ),
    )
    .orderBy(desc(imagePackages.buildId))
    .limit(imagesAtOnce);
