import { affectedBy, countsOf, withExploits, type Affected, type KnownAffected } from "#domain/advisories/affected";
import { advisedBase } from "#domain/advisories/base";
import type { Services } from "#domain/services";
import { rest } from "#lib/loop/pace";
import { logFailure } from "#log/log";
import { hasVersions, type AffectedCounts } from "#model/advisory";
import { deleteChanges, findLastChange, listChangedPackages } from "#storage/advisory-changes";
import { listAdvisories, listFeeds } from "#storage/advisories";
import type { Database } from "#storage/db";
import {
  listImagesAfter,
  listUncounted,
  listVersionsById,
  saveAdvisoryCounts,
  type CountableImage,
} from "#storage/image-advisories";
import type { PackageVersionRow } from "#storage/image-packages";
import { lookAtImages } from "#storage/watches";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

const position = "images with changed advisories";
/** How many accounts' new images are counted together, and how many images of each. */
const newAtOnce = { accounts: 10, imagesOfEach: 20 };
/** How many images are compared with the changed packages together. */
const comparedAtOnce = 500;
/** How many sources have their advisories in memory at the same time. */
const sourcesAtOnce = 50;
/** How long one run continues. */
const longestMs = 20_000;

/**
 * A chore: counts the advisories of new images, and counts again the images with packages whose advisories have
 * changed.
 */
export async function countImageAdvisories({ db }: Pick<Services, "db">): Promise<void> {
  if (!(await listFeeds(db)).some(({ feed, readAt }) => hasVersions(feed) && readAt !== null)) return;
  const until = Date.now() + longestMs;
  await countNew(db, until);
  await countChanged(db, until);
}

async function countNew(db: Database, until: number): Promise<void> {
  for (let after = 0; Date.now() < until;) {
    const images = await listUncounted(db, { ...newAtOnce, after });
    await count(db, images);
    const last = images.at(-1)?.accountId;
    if (last === undefined && after === 0) return;
    after = last ?? 0;
  }
}

/**
 * Walks over all images, and counts those that the changes affect. Later changes wait for the next walk, because the
 * walk may already have passed an affected image.
 */
async function countChanged(db: Database, until: number): Promise<void> {
  const begun = await findSweepPosition(db, position);
  const last = begun === undefined ? await findLastChange(db) : undefined;
  if (begun === undefined && last === undefined) return;
  const [upTo = 0, ...from] = begun === undefined ? [last] : begun.split(" ").map(Number);
  const changed = await listChangedPackages(db, upTo);
  let [accountId = 0, buildId = 0] = from;
  while (Date.now() < until) {
    const images = changed.size === 0 ? [] : await listImagesAfter(db, { accountId, buildId, limit: comparedAtOnce });
    await count(
      db,
      images.filter(({ packageIds }) => packageIds.some((id) => changed.has(id))),
    );
    const end = images.at(-1);
    if (end === undefined || images.length < comparedAtOnce) {
      await deleteChanges(db, upTo);
      return await saveSweepPosition(db, position, undefined);
    }
    [accountId, buildId] = [end.accountId, end.id];
    await rest();
  }
  await saveSweepPosition(db, position, `${upTo} ${accountId} ${buildId}`);
}

/**
 * Images of one base system have most packages in common, so each version of a source is compared once for many images.
 */
async function count(db: Database, images: readonly CountableImage[]): Promise<void> {
  if (images.length === 0) return;
  const packages = await listVersionsById(db, [...new Set(images.flatMap(({ packageIds }) => packageIds))]);
  const byId = new Map(packages.map((one) => [one.id, one]));
  const baseOf = ({ packageIds }: CountableImage) => byId.get(packageIds[0] ?? 0)?.baseSystem ?? "";
  const ofBase = Map.groupBy(packages, ({ baseSystem }) => baseSystem);
  for (const [base, of] of Map.groupBy(images, baseOf)) {
    const counted = await countedOf(db, { base, images: of, packages: ofBase.get(base) ?? [] });
    const urgent = counted.filter(hasMoreExploited).map(({ id }) => id);
    if (urgent.length > 0) await lookAtImages(db, urgent, new Date());
    await saveAdvisoryCounts(db, counted);
    await rest();
  }
}

type Counted = CountableImage & { counts: AffectedCounts | null };

/**
 * Whether updates now fix more exploited vulnerabilities than before. The image's owner is then notified immediately.
 */
function hasMoreExploited({ before, counts }: Counted): boolean {
  const known = JSON.parse(before ?? "null") as AffectedCounts | null;
  return (counts?.exploited ?? 0) > (known?.exploited ?? 0);
}

async function countedOf(
  db: Database,
  { base, images, packages }: { base: string; images: readonly CountableImage[]; packages: PackageVersionRow[] },
): Promise<Counted[]> {
  try {
    const { releases, type } = await advisedBase(db, base);
    if (releases.length === 0) return images.map((image) => ({ ...image, counts: null }));
    const found = new Map<string, KnownAffected[]>();
    const bySource = [...Map.groupBy(packages, ({ source }) => source)];
    for (let at = 0; at < bySource.length; at += sourcesAtOnce) {
      const some = bySource.slice(at, at + sourcesAtOnce);
      const rows = await listAdvisories(db, { sources: some.map(([source]) => source), releases });
      const affected = affectedBy(
        some.flatMap(([, of]) => of),
        rows,
        { type },
      );
      for (const [key, of] of Map.groupBy(await withExploits(db, affected), versionKey)) found.set(key, of);
      await rest();
    }
    const sourceOf = new Map(packages.map((one) => [one.id, versionKey({ ...one, installed: one.sourceVersion })]));
    return images.map((image) => ({ ...image, counts: countsOf(ofImage(image.packageIds, sourceOf, found)) }));
  } catch (error) {
    // Otherwise an error here would hold up all other images forever.
    logFailure("could not count the advisories of images", error, { baseSystem: base });
    return images.map((image) => ({ ...image, counts: null }));
  }
}

const versionKey = ({ source, installed }: Pick<Affected, "source" | "installed">): string => `${source} ${installed}`;

function ofImage(
  packageIds: readonly number[],
  sourceOf: ReadonlyMap<number, string>,
  found: ReadonlyMap<string, KnownAffected[]>,
): KnownAffected[] {
  const sources = new Set(packageIds.flatMap((id) => sourceOf.get(id) ?? []));
  return [...sources].flatMap((source) => found.get(source) ?? []);
}
