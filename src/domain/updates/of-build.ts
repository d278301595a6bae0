import { createHash } from "node:crypto";
import type { InstalledPackage } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { knowledgeOf, type Knowledge } from "#domain/repositories/knowledge";
import { installable } from "#domain/software/resolution-request";
import { newerPackages } from "#domain/updates/newer-packages";
import { lastAutomaticBuildOf, type LastAutomaticBuild } from "#domain/automatic-builds/last";
import { waitsUntil } from "#domain/automatic-builds/waits";
import { rest } from "#lib/loop/pace";
import { packageTypeOfRepository } from "#model/catalogue";
import type { ImageUpdates, PackageUpdate } from "#model/image-updates";
import { findAnyAppliance, listApplianceRepositories, type Appliance } from "#storage/appliances";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { findUpdates, putUpdates, saveCounts } from "#storage/image-updates";
import { listVersions, maxVersions, type PackageVersion } from "#storage/packages";
import type { Repository } from "#storage/repositories";
import { findWatch } from "#storage/watches";

/** The packages of an image for which the appliance's repositories now have a newer version. */
export interface BuildUpdates {
  build: Build;
  /** Sorted by name. */
  updates: PackageUpdate[];
  /** How many installed packages are in no repository, in any version. */
  unlisted: number;
  securityCount: number;
  lookedAt: Date;
  /** The appliance's current repositories, in their order. */
  repositories: (Repository & { knowledge: Knowledge })[];
  /** The last automatic build of the appliance. Undefined if there was none. */
  automaticBuild: LastAutomaticBuild | undefined;
  /** When the next automatic build may begin. Undefined if there will be none, or if it may begin now. */
  automaticBuildWaitsUntil: Date | undefined;
}

type Asked = Services<Pick<Env, "BLOBS">>;

/**
 * Compares only if the contents of the repositories have changed since the last comparison. It then compares inside
 * `costing`, which limits such work. Refused for a build that is not finished, because its packages are unknown.
 */
export async function updatesOf(
  services: Asked,
  build: Build,
  costing: (compare: () => Promise<ImageUpdates>) => Promise<ImageUpdates> = (compare) => compare(),
): Promise<BuildUpdates> {
  const { env, db } = services;
  if (build.status !== "finished") throw noImage(build);
  const [stored, appliance, repositories, watch] = await Promise.all([
    findUpdates(env.BLOBS, build.uid),
    findAnyAppliance(db, build.applianceId),
    listApplianceRepositories(db, build.applianceId),
    findWatch(db, build.applianceId),
  ]);
  if (!appliance) throw noImage(build);
  const isCurrent = stored?.contents === contentsOf(repositories);
  const found = isCurrent ? stored : await costing(() => compareImage(services, build, { appliance, repositories }));
  return {
    build,
    updates: found.updates,
    unlisted: found.unlisted,
    securityCount: found.updates.filter(({ isSecurity }) => isSecurity).length,
    lookedAt: new Date(found.lookedAt),
    repositories: repositories.map((one) => ({ ...one, knowledge: knowledgeOf(one) })),
    automaticBuild: watch && lastAutomaticBuildOf(watch),
    automaticBuildWaitsUntil: await waitsUntil(db, { appliance, watch, build, found }),
  };
}

/** Compares the packages of an image with those that the repositories have now, and stores the result. */
export async function compareImage(
  { env, db }: Asked,
  build: Build,
  { appliance, repositories }: { appliance: Appliance; repositories: readonly Repository[] },
): Promise<ImageUpdates> {
  const installed = await findInstalled(env.BLOBS, build.uid);
  if (!installed) throw noImage(build);
  const lookedAt = Date.now();
  const arches = installable(appliance.arch, repositories);
  const sources = repositories.map(({ id, name, priority, purpose }) => ({ id, name, priority, purpose }));
  const found = newerPackages(installed, {
    packageType: repositories[0] ? packageTypeOfRepository(repositories[0]) : "rpm",
    arches,
    repositories: sources,
    packages: await offeredTo(db, installed, { repositories, arches }),
  });
  const updates = { ...found, contents: contentsOf(repositories), lookedAt };
  await putUpdates(env.BLOBS, build.uid, updates);
  await saveCounts(db, build, updates);
  return updates;
}

/** A digest of everything in the repositories that a comparison reads. Each import of changed contents has a new id. */
export function contentsOf(repositories: readonly Repository[]): string {
  const read = repositories.map(({ id, importId, name, priority, purpose }) => [id, importId, name, priority, purpose]);
  return createHash("sha256").update(JSON.stringify(read)).digest("hex");
}

const noImage = ({ id }: Build) => new Refusal("build_not_found", { message: `Build ${id} has no image.` });

/** How many names one query looks up. */
const namesAtOnce = 500;

async function offeredTo(
  db: Database,
  installed: readonly InstalledPackage[],
  { repositories, arches }: { repositories: readonly Repository[]; arches: readonly string[] },
): Promise<PackageVersion[]> {
  const names = [...new Set(installed.map(({ name }) => name))];
  const versionsOf = async (some: string[]): Promise<PackageVersion[]> => {
    const found = await listVersions(db, { repositories, arches, names: some });
    await rest();
    if (found.length < maxVersions || some.length === 1) return found;
    // The answer was cut off, so other names may be missing.
    const half = Math.ceil(some.length / 2);
    return [...(await versionsOf(some.slice(0, half))), ...(await versionsOf(some.slice(half)))];
  };
  const all: PackageVersion[] = [];
  for (let at = 0; at < names.length; at += namesAtOnce) {
    all.push(...(await versionsOf(names.slice(at, at + namesAtOnce))));
  }
  // A pattern without a file has its own name as the pattern.
  return all.filter(({ name, pattern }) => name !== pattern);
}
