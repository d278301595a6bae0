import { packagesOfSettings, type ImageSettings } from "#domain/configuration/settings-of-base";
import { knowledgeOf } from "#domain/repositories/knowledge";
import type { Arch, ImageType, PackageType } from "#lib/contract/index";
import {
  type BaseSystemFacts,
  packageTypeOfBase,
  packageTypeOfRepository,
  type RepositoryType,
  neededAs,
  neededWith,
} from "#model/catalogue";
import { configurationOf } from "#lib/configuration/stored";
import type { Job } from "#lib/solver/job";
import type { PackageSet } from "#lib/solver/pool";
import { listSoftware, type SoftwareRows } from "#storage/appliance-software";
import type { Appliance, Selection } from "#storage/appliances";
import type { Database } from "#storage/db";
import { aliasOf, type Repository } from "#storage/repositories";

/** Everything that decides which packages an image gets. */
export interface ApplianceSoftware extends ImageSettings {
  arch: Arch;
  /** Undefined if no catalogue has the base system any longer. */
  baseSystem: BaseSystemFacts | undefined;
  repositories: Repository[];
  selection: Choice[];
}

/** The package architectures for each system. The last one is the best; the first one fits every system. */
const installableOf: Record<PackageType, Record<Arch, readonly string[]>> = {
  rpm: {
    i586: ["noarch", "i386", "i486", "i586", "i686"],
    x86_64: ["noarch", "i386", "i486", "i586", "i686", "x86_64"],
    aarch64: ["noarch", "aarch64"],
  },
  deb: { i586: ["all", "i386"], x86_64: ["all", "amd64"], aarch64: ["all", "arm64"] },
};

/** The package architectures that a system can install from these repositories. */
export function installable(arch: Arch, repositories: readonly { type: RepositoryType }[]): string[] {
  const types = new Set(repositories.map(packageTypeOfRepository));
  return [...types].flatMap((type) => installableOf[type][arch]);
}

/** One entry of the selection. */
export type Choice = Pick<Selection, "kind" | "name" | "version" | "repositoryId">;

/**
 * Reads everything that decides the packages. `imageType` is the type of the image to build, by default the appliance's
 * own type.
 */
export async function loadSoftware(
  db: Database,
  appliance: Appliance,
  imageType: ImageType = appliance.imageType,
): Promise<ApplianceSoftware> {
  const [rows] = await listSoftware(db, [appliance]);
  return softwareOf(appliance, rows, imageType);
}

/** Everything that decides the packages, from rows that were already read. */
export function softwareOf(
  appliance: Appliance,
  rows: SoftwareRows | undefined,
  imageType: ImageType = appliance.imageType,
): ApplianceSoftware {
  const { base, repositories = [], selection = [] } = rows ?? {};
  const { settings } = configurationOf(appliance);
  return { arch: appliance.arch, imageType, settings, baseSystem: base?.facts, repositories, selection };
}

/** The repositories that were never imported, so their contents are unknown. */
export const unimported = ({ repositories }: ApplianceSoftware): Repository[] =>
  repositories.filter((one) => knowledgeOf(one) === "unknown");

/**
 * The set of packages that the solver must load. Equal keys mean equal packages. Imports count, because those of one
 * revision may have the lists of different architectures.
 */
export const packageSetOf = ({
  arch,
  baseSystem,
  repositories,
}: Pick<ApplianceSoftware, "arch" | "baseSystem" | "repositories">): PackageSet => ({
  packageType: baseSystem === undefined ? "rpm" : packageTypeOfBase(baseSystem),
  key: repositories
    .map(({ id, revision, importId, priority }) => `${id}@${revision}/${importId}/${priority}`)
    .join(" "),
  arch: arch === "i586" ? "i686" : arch,
});

/** The jobs, sorted so that the order of a user's clicks makes no difference. */
export function jobsOf({ selection, repositories, baseSystem, ...image }: ApplianceSoftware): Job[] {
  const present = new Set(repositories.map(({ id }) => id));
  const chosen = selection.toSorted(byKindAndName).map((choice): Job => jobOf(choice, present));
  const named = new Set(selection.filter(({ kind }) => kind === "package").map(({ name }) => name));
  const needed = baseSystem && [
    ...(baseSystem.bootstrap ?? []),
    ...neededAs(baseSystem, image.imageType),
    ...packagesOfSettings(baseSystem, image),
    ...neededWith(baseSystem, named),
  ];
  const missing = new Set((needed ?? []).filter((name) => !named.has(name)));
  return [...chosen, ...[...missing].map((name): Job => ({ kind: "install", name }))];
}

function jobOf({ kind, name, version, repositoryId }: Choice, present: ReadonlySet<number>): Job {
  if (kind === "ban") return { kind: "ban", name };
  if (kind === "pattern") return { kind: "installPattern", name };
  // A pin to a repository that is no longer in the appliance is ignored.
  const repository = repositoryId !== null && present.has(repositoryId) ? aliasOf(repositoryId) : undefined;
  return { kind: "install", name, version: version ?? undefined, repository };
}

const byKindAndName = (left: Choice, right: Choice): number =>
  compare(left.kind, right.kind) || compare(left.name, right.name);

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
