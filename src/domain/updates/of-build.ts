import type { InstalledPackage } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { knowledgeOf, type Knowledge } from "#domain/repositories/knowledge";
import { installable } from "#domain/software/resolution-request";
import { newerPackages, type NewerPackages } from "#domain/updates/newer-packages";
import { rest } from "#lib/loop/pace";
import { packageTypeOfRepository } from "#model/catalogue";
import { findAnyAppliance, listApplianceRepositories } from "#storage/appliances";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listVersions, maxVersions, type PackageVersion } from "#storage/packages";
import type { Repository } from "#storage/repositories";

/** The packages of an image that the appliance's repositories have in a newer version now. */
export interface BuildUpdates extends NewerPackages {
  build: Build;
  securityCount: number;
  /** The appliance's repositories now, in their order. */
  repositories: (Repository & { knowledge: Knowledge })[];
}

/** Refused for a build that is not finished, because its packages are unknown. */
export async function updatesOf({ env, db }: Services<Pick<Env, "BLOBS">>, build: Build): Promise<BuildUpdates> {
  const [installed, appliance, repositories] = await Promise.all([
    build.status === "finished" ? findInstalled(env.BLOBS, build.uid) : undefined,
    findAnyAppliance(db, build.applianceId),
    listApplianceRepositories(db, build.applianceId),
  ]);
  if (!installed || !appliance) throw new Refusal("build_not_found", { message: `Build ${build.id} has no image.` });
  const arches = installable(appliance.arch, repositories);
  const found = newerPackages(installed, {
    packageType: repositories[0] ? packageTypeOfRepository(repositories[0]) : "rpm",
    arches,
    repositories,
    packages: await offeredTo(db, installed, { repositories, arches }),
  });
  return {
    ...found,
    build,
    securityCount: found.updates.filter(({ isSecurity }) => isSecurity).length,
    repositories: repositories.map((one) => ({ ...one, knowledge: knowledgeOf(one) })),
  };
}

/** The number of names that one query looks up. */
const namesAtOnce = 500;

async function offeredTo(
  db: Database,
  installed: readonly InstalledPackage[],
  { repositories, arches }: { repositories: readonly Repository[]; arches: readonly string[] },
): Promise<PackageVersion[]> {
  const names = [...new Set(installed.map(({ name }) => name))];
  const versionsOf = async (some: string[]): Promise<PackageVersion[]> => {
    const repositoryIds = repositories.map(({ id }) => id);
    const found = await listVersions(db, { repositoryIds, arches, names: some });
    await rest();
    if (found.length < maxVersions || some.length === 1) return found;
    // The answer is cut, so other names may be missing.
    const half = Math.ceil(some.length / 2);
    return [...(await versionsOf(some.slice(0, half))), ...(await versionsOf(some.slice(half)))];
  };
  const all: PackageVersion[] = [];
  for (let at = 0; at < names.length; at += namesAtOnce) {
    all.push(...(await versionsOf(names.slice(at, at + namesAtOnce))));
  }
  // A pattern without a file has the pattern's name.
  return all.filter(({ name, pattern }) => name !== pattern);
}
