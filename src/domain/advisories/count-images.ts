import { affectedBy, countsOf, type Affected } from "#domain/advisories/affected";
import { advisedBase } from "#domain/advisories/base";
import type { Services } from "#domain/services";
import { rest } from "#lib/loop/pace";
import { logFailure } from "#log/log";
import type { AffectedCounts } from "#model/advisory";
import { feedsVersion, listAdvisories, listFeeds } from "#storage/advisories";
import type { Database } from "#storage/db";
import { listUncounted, listVersionsById, saveAdvisoryCounts, type UncountedImage } from "#storage/image-advisories";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

const position = "uncounted images";
/** Each turn counts this many images of this many accounts. */
const accountsInTurn = 10;
const imagesOfEach = 20;
/** The advisories of this many sources are in memory at the same time. */
const sourcesAtOnce = 50;
/** How long one run takes turns. */
const longestMs = 20_000;

/** A chore: counts the advisories of each image again after a feed was read. */
export async function countImageAdvisories({ db }: Pick<Services, "db">): Promise<void> {
  const version = feedsVersion(await listFeeds(db));
  if (version === 0) return;
  const until = Date.now() + longestMs;
  let after = Number((await findSweepPosition(db, position)) ?? 0);
  const begun = after;
  do {
    const asked = { version, after, accounts: accountsInTurn, imagesOfEach };
    const images = await listUncounted(db, asked);
    for (const [base, of] of Map.groupBy(images, ({ baseSystem }) => baseSystem)) {
      await saveAdvisoryCounts(db, version, await countAll(db, base, of));
      await rest();
    }
    const last = images.at(-1)?.accountId;
    if (last === undefined && after === 0) break;
    after = last ?? 0;
  } while (Date.now() < until);
  if (after !== begun) await saveSweepPosition(db, position, after === 0 ? undefined : String(after));
}

const versionKey = ({ source, installed }: Pick<Affected, "source" | "installed">): string => `${source} ${installed}`;

type Counted = { id: number; counts: AffectedCounts | null };

/** Images of one base system share most packages, so each version of a source is compared once. */
async function countAll(
  db: Database,
  baseSystem: string | null,
  images: readonly UncountedImage[],
): Promise<Counted[]> {
  try {
    const { releases, type } = await advisedBase(db, baseSystem ?? "");
    if (releases.length === 0) return images.map(({ id }) => ({ id, counts: null }));
    const packages = await listVersionsById(db, [...new Set(images.flatMap(({ packageIds }) => packageIds))]);
    const found = new Map<string, Affected[]>();
    const bySource = [...Map.groupBy(packages, ({ source }) => source)];
    for (let at = 0; at < bySource.length; at += sourcesAtOnce) {
      const some = bySource.slice(at, at + sourcesAtOnce);
      const rows = await listAdvisories(db, { sources: some.map(([source]) => source), releases });
      const affected = affectedBy(
        some.flatMap(([, of]) => of),
        rows,
        { type },
      );
      for (const [key, of] of Map.groupBy(affected, versionKey)) found.set(key, of);
      await rest();
    }
    const sourceOf = new Map(packages.map((one) => [one.id, versionKey({ ...one, installed: one.sourceVersion })]));
    return images.map(({ id, packageIds }) => ({ id, counts: countsOf(ofImage(packageIds, sourceOf, found)) }));
  } catch (error) {
    // Other images would wait for these forever.
    logFailure("could not count the advisories of images", error, { baseSystem });
    return images.map(({ id }) => ({ id, counts: null }));
  }
}

function ofImage(
  packageIds: readonly number[],
  sourceOf: ReadonlyMap<number, string>,
  found: ReadonlyMap<string, Affected[]>,
): Affected[] {
  const sources = new Set(packageIds.flatMap((id) => sourceOf.get(id) ?? []));
  return [...sources].flatMap((source) => found.get(source) ?? []);
}
