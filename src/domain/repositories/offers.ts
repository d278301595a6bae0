import { evr, nevra } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { hitsOf, maxHits } from "#domain/repositories/search";
import { installable, type ApplianceSoftware } from "#domain/software/resolution-request";
import { packageTypeOfBase } from "#model/catalogue";
import { compareEvr } from "#lib/solver/evr-order";
import type { ResolvedPackage } from "#lib/solver/resolution";
import { listVersions, type FoundPackage, type PackageVersion } from "#storage/packages";
import { aliasOf, type Repository } from "#storage/repositories";

/** A name that a search has found. It appears once, no matter how many versions the repositories have. */
export interface Offer {
  kind: "package" | "pattern";
  name: string;
  /** The version that would be installed if the name were added. For an installed package, the installed version. */
  best: OfferedVersion;
  /** The other versions, best first. */
  others: OfferedVersion[];
}

export interface OfferedVersion {
  /** The version with its epoch and its release. */
  version: string;
  arch: string;
  summary: string;
  installSizeBytes: number;
  repository: Pick<Repository, "id" | "name" | "purpose">;
}

export interface Offers {
  /** Exact names first, then those that begin with the text, then all others, each group sorted by name. */
  offers: Offer[];
  /** The number of names that were found. */
  total: number;
  /** Whether there are more names, which were not counted. */
  hasMore: boolean;
}

interface OfferRequest {
  q: string;
  allFields: boolean;
  /** The maximum number of names. */
  limit: number;
  /** The packages that the software resolves to now. */
  installed: readonly ResolvedPackage[];
}

/** Packages and patterns whose name contains a text, each with the version that the solver would choose. */
export async function findOffers(
  services: Services<Pick<Env, "BLOBS">>,
  software: ApplianceSoftware,
  { q, allFields, limit, installed }: OfferRequest,
): Promise<Offers> {
  const { repositories, arch } = software;
  const arches = installable(arch, repositories);
  const hits = await hitsOf(services, { repositories, arches }, { q, allFields, limit: maxHits });
  const found = new Map(hits.map((hit) => [keyOf(hit), hit]));
  const shown = [...found.values()].slice(0, limit);
  const names = [...new Set(shown.map(({ name }) => name))];
  const versions = names.length === 0 ? [] : await listVersions(services.db, { repositories, arches, names });
  const byKey = Map.groupBy(versions, keyOf);
  const chosen = { arches, installed: new Set(installed.map((one) => `${one.repository} ${nevra(one)}`)) };
  const offers = shown.flatMap((hit) =>
    offerOf(hit, inOrder(byKey.get(keyOf(hit)) ?? [], software, chosen), repositories),
  );
  return { offers, total: found.size, hasMore: hits.length >= maxHits };
}

type Named = Pick<FoundPackage, "name" | "pattern">;

const keyOf = ({ name, pattern }: Named): string => (pattern ? `pattern ${pattern}` : `package ${name}`);

/**
 * Sorts the versions of one name in the order in which libsolv chooses: first the installed one, then by the priority
 * of the repository, then by architecture (packages for every system come first), then by version. If all are equal,
 * the repository that comes first in the appliance's list wins.
 */
function inOrder(
  versions: readonly PackageVersion[],
  { repositories, baseSystem }: ApplianceSoftware,
  { arches, installed }: { arches: readonly string[]; installed: ReadonlySet<string> },
): PackageVersion[] {
  const type = packageTypeOfBase(baseSystem ?? {});
  const places = new Map(repositories.map(({ id, priority }, place) => [id, { priority, place }]));
  const placeOf = ({ repositoryId }: PackageVersion) => places.get(repositoryId) ?? { priority: 99, place: 0 };
  const isInstalled = (one: PackageVersion) => Number(installed.has(`${aliasOf(one.repositoryId)} ${nevra(one)}`));
  const bestArch = Math.max(...versions.map(({ arch }) => arches.indexOf(arch)));
  const archOf = ({ arch }: PackageVersion) => arches.indexOf(arch) || bestArch;
  return versions.toSorted(
    (left, right) =>
      isInstalled(right) - isInstalled(left) ||
      placeOf(left).priority - placeOf(right).priority ||
      archOf(right) - archOf(left) ||
      compareEvr(type, right, left) ||
      placeOf(left).place - placeOf(right).place,
  );
}

function offerOf(
  { name, pattern }: Named,
  versions: readonly PackageVersion[],
  repositories: readonly Repository[],
): Offer[] {
  // Several repositories may have the same version.
  const unique = versions.filter((one, at) => versions.findIndex((each) => nevra(each) === nevra(one)) === at);
  const [best, ...others] = unique.flatMap((one) => offeredIn(one, repositories));
  if (best === undefined) return [];
  return [{ kind: pattern ? "pattern" : "package", name: pattern || name, best, others }];
}

function offeredIn(one: PackageVersion, repositories: readonly Repository[]): OfferedVersion[] {
  const repository = repositories.find(({ id }) => id === one.repositoryId);
  const { arch, summary, installSizeBytes } = one;
  return repository ? [{ version: evr(one), arch, summary, installSizeBytes, repository }] : [];
}
