import type { PackageType } from "#lib/contract/index";
import { advisedBase, type AdvisedBase } from "#domain/advisories/base";
import { affectedBy, countsOf, withExploits, type KnownAffected } from "#domain/advisories/affected";
import { listed } from "#domain/advisories/listed-packages";
import type { ReadInstalled } from "#domain/builds/bill";
import { statementsOf } from "#domain/advisories/statements";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { hasVersions, type AffectedCounts } from "#model/advisory";
import { listAdvisories, listFeeds, type AdvisoryFeedRow } from "#storage/advisories";
import { findAnyAppliance } from "#storage/appliances";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listStatements, type VexStatement } from "#storage/vex-statements";

/** An advisory, and the statement of the image's owner about it. */
export interface StatedAdvisory extends KnownAffected {
  statement: VexStatement | undefined;
}

/** The advisories that affect an image. */
export interface BuildAdvisories {
  build: Build;
  advisories: StatedAdvisory[];
  counts: AffectedCounts;
  /** Whether any feed covers the image's base system. */
  isKnown: boolean;
  packageType: PackageType;
  feeds: AdvisoryFeedRow[];
}

/** The advisories of a build. Refused if the build is not finished, because its packages are unknown. */
export async function advisoriesOfBuild(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  build: Build,
): Promise<BuildAdvisories> {
  const found = await findAdvisories({ env, db }, build);
  if (!found) throw new Refusal("build_not_found", { message: `Build ${build.id} has no image.` });
  return found;
}

/** Undefined if the packages of the build are unknown. */
export async function findAdvisories(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  build: Build,
  readInstalled: ReadInstalled = () => findInstalled(env.BLOBS, build.uid),
): Promise<BuildAdvisories | undefined> {
  if (build.status !== "finished") return undefined;
  const [appliance, feeds] = await Promise.all([findAnyAppliance(db, build.applianceId), listFeeds(db)]);
  if (!appliance) return undefined;
  const base = await advisedBase(db, appliance.baseSystem);
  const readAt = feeds.flatMap((feed) => feed.readAt?.getTime() ?? []);
  const isKnown = base.releases.length > 0 && feeds.some(({ feed, readAt: at }) => hasVersions(feed) && at !== null);
  const advisories = isKnown ? await affecting(db, build, { base, readAt, readInstalled }) : [];
  if (!advisories) return undefined;
  const statementFor = statementsOf(await listStatements(db, appliance.id), build.id);
  const stated = advisories.map((one) => ({ ...one, statement: statementFor(one) }));
  return { build, advisories: stated, counts: countsOf(advisories), isKnown, packageType: base.type, feeds };
}

/**
 * Cached, because the page of an image compares again whenever it is refreshed. The key is the image and the time when
 * the feeds were read.
 */
const compared = new Map<string, KnownAffected[]>();
const maxCompared = 50;

async function affecting(
  db: Database,
  build: Build,
  { base, readAt, readInstalled }: { base: AdvisedBase; readAt: readonly number[]; readInstalled: ReadInstalled },
): Promise<KnownAffected[] | undefined> {
  const key = [build.uid, ...readAt].join(" ");
  const known = compared.get(key);
  if (known) return known;
  const installed = await readInstalled();
  if (!installed) return undefined;
  const packages = installed.map(listed);
  const sources = [...new Set(packages.map(({ source }) => source))];
  const rows = await listAdvisories(db, { sources, releases: base.releases });
  const found = await withExploits(db, affectedBy(packages, rows, base));
  compared.set(key, found);
  for (const [oldest] of [...compared].slice(0, -maxCompared)) compared.delete(oldest);
  return found;
}
