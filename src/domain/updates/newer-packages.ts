import { evr, type InstalledPackage, type PackageType } from "#lib/contract/index";
import { compareEvr, type Evr } from "#lib/solver/evr-order";
import { bringsSecurityUpdates } from "#model/catalogue";
import type { PackageUpdate, UpdateSource } from "#model/image-updates";
import type { PackageVersion } from "#storage/packages";

export type OfferedPackage = Pick<PackageVersion, "repositoryId" | "name" | "epoch" | "version" | "release" | "arch">;

/** The packages that the repositories offer for an image. */
export interface Offered {
  packageType: PackageType;
  /** The first one fits every machine, and the last one is the machine's own. */
  arches: readonly string[];
  /** If several repositories have the same version, the first one counts. */
  repositories: readonly UpdateSource[];
  packages: readonly OfferedPackage[];
}

interface NewerPackages {
  /** Sorted by name. */
  updates: PackageUpdate[];
  /** How many installed packages are in no repository, in any version. */
  unlisted: number;
}

/**
 * Compares the installed packages with those of the same name in the repositories. For each name, only the repositories
 * with the best priority count, as in the solver. If several versions of a package are installed, as with kernels, the
 * newest one counts.
 */
export function newerPackages(installed: readonly InstalledPackage[], offered: Offered): NewerPackages {
  const byName = Map.groupBy(offered.packages, ({ name }) => name);
  const sources = new Map(offered.repositories.map((repository, place) => [repository.id, { repository, place }]));
  const found = newestOf(installed, offered.packageType).map((one) => {
    const candidates = (byName.get(one.name) ?? []).flatMap((candidate) => {
      const source = fits(one.arch, candidate.arch, offered.arches) ? sources.get(candidate.repositoryId) : undefined;
      return source ? [{ ...candidate, ...source }] : [];
    });
    return candidates.length === 0 ? "unlisted" : updateOf(one, candidates, offered.packageType);
  });
  return {
    updates: found
      .filter((one) => one !== undefined && one !== "unlisted")
      .toSorted((left, right) => (left.name < right.name ? -1 : Number(left.name > right.name))),
    unlisted: found.filter((one) => one === "unlisted").length,
  };
}

interface Installed extends Evr {
  name: string;
  arch: string;
}

type Candidate = OfferedPackage & { repository: UpdateSource; place: number };

/** The newest installed version of each name and architecture. */
function newestOf(installed: readonly InstalledPackage[], type: PackageType): Installed[] {
  const known = installed.map((one) => ({ ...one, epoch: Number(one.epoch ?? 0) }));
  const groups = Map.groupBy(known, ({ name, arch }) => `${name} ${arch}`);
  return [...groups.values()].flatMap(
    (group) => group.toSorted((left, right) => compareEvr(type, right, left))[0] ?? [],
  );
}

/** Whether a package of one architecture replaces an installed one of another. */
const fits = (installed: string, offered: string, arches: readonly string[]): boolean =>
  offered === installed || offered === arches[0] || (installed === arches[0] && offered === arches.at(-1));

function updateOf(one: Installed, candidates: readonly Candidate[], type: PackageType): PackageUpdate | undefined {
  const best = Math.min(...candidates.map(({ repository }) => repository.priority));
  const newer = candidates
    .filter((candidate) => candidate.repository.priority === best && compareEvr(type, candidate, one) > 0)
    .toSorted((left, right) => compareEvr(type, right, left) || left.place - right.place);
  const [newest] = newer;
  return (
    newest && {
      name: one.name,
      arch: one.arch,
      installed: evr(one),
      available: evr(newest),
      isSecurity: newer.some(({ repository }) => bringsSecurityUpdates(repository)),
      repository: newest.repository,
    }
  );
}
