import { sql, type SQL } from "drizzle-orm";
import type { AffectedCounts } from "#model/advisory";
import { fromJson, type Database } from "./db.ts";
import { idsIn, type PackageVersionRow } from "./image-packages.ts";
import { imagePackages } from "./schema.ts";

/** An image whose advisories can be counted. */
export interface CountableImage {
  id: number;
  accountId: number;
  packageIds: number[];
  /** The last stored counts, as JSON; null if there are none. */
  before: string | null;
}

const imagesIn = (rows: readonly (Omit<CountableImage, "packageIds"> & { packages: string })[]): CountableImage[] =>
  rows.map(({ packages, ...image }) => ({ ...image, packageIds: idsIn(JSON.parse(packages) as number[]) }));

interface Turns {
  /** The account that had the last turn. */
  after: number;
  accounts: number;
  imagesOfEach: number;
}

const nextAccount = (last: SQL) => sql`(SELECT min(account_id) FROM image_packages
  WHERE is_counted = 0 AND account_id > ${last})`;

/** The next images whose advisories were never counted, a few of each account. */
export const listUncounted = async (
  db: Database,
  { after, accounts, imagesOfEach }: Turns,
): Promise<CountableImage[]> =>
  imagesIn(
    await db.all(sql`
    WITH RECURSIVE turns (account_id, turn) AS (
      SELECT ${nextAccount(sql`${after}`)}, 1
      UNION ALL SELECT ${nextAccount(sql`turns.account_id`)}, turn + 1 FROM turns
        WHERE turn < ${accounts} AND account_id IS NOT NULL)
    SELECT image.build_id AS id, image.account_id AS accountId, image.packages, image.advisories AS before
    FROM turns CROSS JOIN image_packages AS image
    WHERE image.account_id = turns.account_id AND image.build_id IN (
        SELECT build_id FROM image_packages WHERE is_counted = 0 AND account_id = turns.account_id
        ORDER BY build_id LIMIT ${imagesOfEach})
    ORDER BY turns.turn`),
  );

/** The images after this one, ordered by account. */
export const listImagesAfter = async (
  db: Database,
  { accountId, buildId, limit }: { accountId: number; buildId: number; limit: number },
): Promise<CountableImage[]> =>
  imagesIn(
    await db.all(sql`SELECT build_id AS id, account_id AS accountId, packages, advisories AS before
      FROM image_packages WHERE (account_id, build_id) > (${accountId}, ${buildId})
      ORDER BY account_id, build_id LIMIT ${limit}`),
  );

/** The versions of packages with these ids. */
export const listVersionsById = (db: Database, ids: readonly number[]): Promise<PackageVersionRow[]> =>
  db.query.packageVersions.findMany({ where: sql`id IN ${fromJson(ids)}` });

/** The counts of these images. Null for an image that no feed covers. Images that are not listed yet have no entry. */
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

/**
 * Stores counts that differ from the previous ones. If another run has stored different ones since, one of the two has
 * compared older advisories, so the image is counted again.
 */
export async function saveAdvisoryCounts(
  db: Database,
  counted: readonly (CountableImage & { counts: AffectedCounts | null })[],
): Promise<void> {
  const given = JSON.stringify(counted.map(({ id, before, counts }) => ({ id, before, counts })));
  const ofGiven = sql`json_each(${given}) AS given`;
  await db.batch([
    db
      .update(imagePackages)
      .set({ isCounted: true, advisories: sql`given.value ->> 'counts'` })
      .from(ofGiven)
      .where(
        sql`build_id = given.value ->> 'id' AND advisories IS given.value ->> 'before'
          AND (is_counted = 0 OR advisories IS NOT given.value ->> 'counts')`,
      ),
    db
      .update(imagePackages)
      .set({ isCounted: false })
      .from(ofGiven)
      .where(sql`build_id = given.value ->> 'id' AND is_counted AND advisories IS NOT given.value ->> 'counts'`),
  ]);
}
