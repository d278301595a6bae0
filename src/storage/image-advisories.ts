import { sql, type SQL } from "drizzle-orm";
import type { AffectedCounts } from "#model/advisory";
import { fromJson, type Database } from "./db.ts";
import { idsIn, type PackageVersionRow } from "./image-packages.ts";
import { imagePackages } from "./schema.ts";

/** An image whose advisories are not counted for what the feeds are now. */
export interface UncountedImage {
  id: number;
  accountId: number;
  /** Null if its appliance is gone. */
  baseSystem: string | null;
  packageIds: number[];
}

interface Uncounted {
  /** Images that were counted for an earlier version of the feeds. */
  version: number;
  /** The account that had the last turn. */
  after: number;
  accounts: number;
  imagesOfEach: number;
}

const nextAccount = (last: SQL) => sql`(SELECT min(account_id) FROM image_packages
  WHERE counted_for = oldest.version AND account_id > ${last})`;

/** The next images to count, a few of each account: first those that never were counted, then the longest outdated. */
export async function listUncounted(
  db: Database,
  { version, after, accounts, imagesOfEach }: Uncounted,
): Promise<UncountedImage[]> {
  const rows = await db.all<Omit<UncountedImage, "packageIds"> & { packages: string }>(sql`
    WITH RECURSIVE oldest (version) AS (SELECT min(counted_for) FROM image_packages),
      turns (account_id, turn) AS (
        SELECT ${nextAccount(sql`${after}`)}, 1 FROM oldest WHERE oldest.version < ${version}
        UNION ALL SELECT ${nextAccount(sql`turns.account_id`)}, turn + 1 FROM turns CROSS JOIN oldest
          WHERE turn < ${accounts} AND account_id IS NOT NULL)
    SELECT image.build_id AS id, image.account_id AS accountId, image.packages, appliances.base_system AS baseSystem
    FROM turns CROSS JOIN oldest CROSS JOIN image_packages AS image
      LEFT JOIN builds ON builds.id = image.build_id LEFT JOIN appliances ON appliances.id = builds.appliance_id
    WHERE image.account_id = turns.account_id AND image.build_id IN (
        SELECT build_id FROM image_packages WHERE counted_for = oldest.version AND account_id = turns.account_id
        ORDER BY build_id LIMIT ${imagesOfEach})
    ORDER BY turns.turn`);
  return rows.map(({ packages, ...image }) => ({ ...image, packageIds: idsIn(JSON.parse(packages) as number[]) }));
}

/** The versions of packages with these ids. */
export const listVersionsById = (db: Database, ids: readonly number[]): Promise<PackageVersionRow[]> =>
  db.query.packageVersions.findMany({ where: sql`id IN ${fromJson(ids)}` });

/** The counts of these images. Null for one that no feed knows, and none for one that is not listed yet. */
export const listAdvisoryCounts = async (
  db: Database,
  buildIds: readonly number[],
): Promise<(AffectedCounts | null)[]> => {
  const rows = await db
    .select({ advisories: imagePackages.advisories })
    .from(imagePackages)
    .where(sql`build_id IN ${fromJson(buildIds)}`);
  return rows.map(({ advisories }) => advisories);
};

/** Stores the counts of images for a version of the feeds. */
export async function saveAdvisoryCounts(
  db: Database,
  version: number,
  counted: readonly { id: number; counts: AffectedCounts | null }[],
): Promise<void> {
  await db
    .update(imagePackages)
    .set({ countedFor: version, advisories: sql`given.value ->> 'counts'` })
    .from(sql`json_each(${JSON.stringify(counted)}) AS given`)
    .where(sql`build_id = given.value ->> 'id'`);
}
