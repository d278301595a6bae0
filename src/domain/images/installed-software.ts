import { nvra, versionRelease, type FrozenInput, type InstalledPackage } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { resolve } from "#domain/software/resolution";
import { loadSoftware } from "#domain/software/resolution-request";
import type { Appliance } from "#storage/appliances";
import { findInstalled, getInput } from "#storage/build-blobs";
import { findBuild } from "#storage/builds";
import { aliasOf } from "#storage/repositories";

/** Packages and patterns, grouped by the repositories that they come from. */
export interface SoftwareMap {
  applianceId: number;
  repositories: RepositorySoftware[];
}

export interface RepositorySoftware {
  id: number;
  name: string;
  /** http(s), or `service:/…` for a repository of this service. */
  url: string | undefined;
  packages: ShownPackage[];
  patterns: { name: string; version: string; arch: string; summary?: string | undefined }[];
}

export interface ShownPackage {
  name: string;
  version: string;
  release: string;
  arch: string;
  checksum?: { type: string; value: string } | undefined;
  summary?: string | undefined;
  downloadSizeBytes?: number | undefined;
  installSizeBytes?: number | undefined;
}

/** The packages that a build has installed. Without a build, those that the next one will install. */
export async function installedSoftware(
  services: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  buildId: number | undefined,
): Promise<SoftwareMap> {
  const repositories = await (buildId === undefined
    ? softwareOfNextBuild(services, appliance)
    : softwareOfBuild(services, appliance, buildId));
  return { applianceId: appliance.id, repositories };
}

/** Empty if the software does not resolve. The appliance's status gives the reason. */
async function softwareOfNextBuild(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
): Promise<RepositorySoftware[]> {
  const software = await loadSoftware(db, appliance);
  const resolution = await resolve({ env, db }, software);
  if (resolution.state !== "solved") return [];
  const { packages, patterns } = resolution;
  const groups = software.repositories.map(({ id, name, url }) => {
    const isHere = ({ repository }: { repository: string }) => repository === aliasOf(id);
    const shown = patterns
      .filter(({ by }) => isHere(by))
      .map(({ name, by }) => ({ name, version: versionRelease(by), arch: by.arch }));
    return { id, name, url, packages: packages.filter(isHere), patterns: shown };
  });
  return groups.filter(hasSomething);
}

/**
 * The packages that rpm reported in the image of a finished build. Their repositories and checksums come from the
 * frozen packages.
 */
async function softwareOfBuild(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  buildId: number,
): Promise<RepositorySoftware[]> {
  const build = appliance.accountId === null ? undefined : await findBuild(db, appliance.accountId, buildId);
  if (build?.applianceId !== appliance.id) throw new Refusal("invalid_build_id");
  const installed = build.status === "finished" ? await findInstalled(env.BLOBS, build.uid) : undefined;
  if (!installed) throw new Refusal("build_not_found");
  return grouped(installed, await getInput(env.BLOBS, build.inputSha256));
}

function grouped(installed: InstalledPackage[], input: FrozenInput): RepositorySoftware[] {
  const frozen = new Map(input.packages.map((one) => [nvra(one), one]));
  const byAlias = Map.groupBy(installed, (one) => frozen.get(nvra(one))?.repository);
  const shown = (alias: string | undefined) =>
    (byAlias.get(alias) ?? []).map((one) => ({ ...one, checksum: frozen.get(nvra(one))?.checksum }));
  const groups = input.repositories.map(({ alias, id, name, url }) => ({
    id,
    name,
    url,
    packages: shown(alias),
    patterns: [],
  }));
  const strays = { id: 0, name: "none of the repositories", url: undefined, packages: shown(undefined), patterns: [] };
  return [...groups, strays].filter(hasSomething);
}

const hasSomething = ({ packages }: RepositorySoftware): boolean => packages.length > 0;
