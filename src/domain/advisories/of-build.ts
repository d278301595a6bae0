import { advisedBase, type AdvisedBase } from "#domain/advisories/base";
import { affectedBy, countsOf, type Affected, type AffectedCounts } from "#domain/advisories/affected";
import { listedOf } from "#domain/advisories/listed-packages";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { listAdvisories, listFeeds, type AdvisoryFeedRow } from "#storage/advisories";
import { findAnyAppliance } from "#storage/appliances";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";

/** The advisories that concern an image. */
export interface BuildAdvisories {
  build: Build;
  advisories: Affected[];
  counts: AffectedCounts;
  /** Whether the feeds know its base system. */
  isKnown: boolean;
  feeds: AdvisoryFeedRow[];
}

/** Refused for a build that is not finished, because its packages are unknown. */
export async function advisoriesOfBuild(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  build: Build,
): Promise<BuildAdvisories> {
  const noImage = new Refusal("build_not_found", { message: `Build ${build.id} has no image.` });
  if (build.status !== "finished") throw noImage;
  const [installed, appliance, feeds] = await Promise.all([
    findInstalled(env.BLOBS, build.uid),
    findAnyAppliance(db, build.applianceId),
    listFeeds(db),
  ]);
  if (!installed || !appliance) throw noImage;
  const base = await advisedBase(db, appliance.baseSystem);
  const packages = listedOf(installed);
  const sources = [...new Set(packages.map(({ source }) => source))];
  const rows = await listAdvisories(db, { sources, releases: base.releases });
  const advisories = affectedBy(packages, rows, base);
  return { build, advisories, counts: countsOf(advisories), isKnown: isKnown(base, feeds), feeds };
}

const isKnown = ({ releases }: AdvisedBase, feeds: readonly AdvisoryFeedRow[]): boolean =>
  releases.length > 0 && feeds.some(({ readAt }) => readAt !== null);
