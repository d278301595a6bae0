import { versionRelease } from "#lib/contract/index";
import type { SoftwareMap, RepositorySoftware } from "#domain/images/installed-software";
import type { Services } from "#domain/services";
import type { IndexHit } from "#domain/repositories/name-index";
import { nameIndexesOf } from "#domain/repositories/name-indexes";
import { installable } from "#domain/software/resolution-request";
import { Refusal } from "#domain/refusal";
import { packageTypeOfBase, packageTypeOfRepository } from "#model/catalogue";
import { findSearched, type Appliance, type SearchedRepository } from "#storage/appliances";
import type { Database } from "#storage/db";
import { searchTexts } from "#storage/package-texts";
import { describePackages, searchPackages, type FoundPackage, type PackageDetails } from "#storage/packages";

/** The maximum number of hits in an answer. A search for a short text, such as one letter, would find more. */
export const maxHits = 1000;

interface SearchRequest {
  q: string;
  allFields: boolean;
  limit: number;
  /** Whether to return summaries and sizes, too. */
  detailed: boolean;
}

/** An appliance, and the repositories to search. */
export interface SearchedAppliance {
  appliance: Pick<Appliance, "id" | "arch">;
  repositories: SearchedRepository[];
}

/** An appliance that this account may read. `usable` contains all repositories that the account could add to it. */
export async function getSearched(
  db: Database,
  accountId: number,
  id: number,
): Promise<SearchedAppliance & { usable: SearchedRepository[] }> {
  const found = await findSearched(db, accountId, id);
  if (!found) throw new Refusal("invalid_appliance_id", { reason: "unknown" });
  const { appliance, repositories, base, visible } = found;
  const wanted = packageTypeOfBase({ packageType: found.packageType ?? undefined });
  const usable = visible.filter((one) => base === null || packageTypeOfRepository(one) === wanted);
  return { appliance, repositories, usable };
}

/**
 * Packages and patterns that match. The repository with the best hit comes first, and so does the best hit in each
 * repository.
 */
export async function searchSoftware(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { appliance, repositories }: SearchedAppliance,
  request: SearchRequest,
): Promise<SoftwareMap> {
  const arches = installable(appliance.arch, repositories);
  const found = await hitsOf({ env, db }, { repositories, arches }, request);
  const details = request.detailed
    ? await describePackages(
        db,
        found.map(({ id }) => id),
      )
    : new Map<number, PackageDetails>();
  const known = new Map(repositories.map((repository) => [repository.id, repository]));
  const byRepository = [...Map.groupBy(found, ({ repositoryId }) => repositoryId)].flatMap(([id, hits]) => {
    const repository = known.get(id);
    return repository ? [shown(repository, hits, details)] : [];
  });
  return { applianceId: appliance.id, repositories: byRepository };
}

interface Searched {
  repositories: readonly SearchedRepository[];
  arches: readonly string[];
}

/**
 * Finds names with the name indexes if every repository has one, otherwise with the database. Both give the same
 * answer.
 */
export async function hitsOf(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { repositories, arches }: Searched,
  { q, allFields, limit }: Pick<SearchRequest, "q" | "allFields" | "limit">,
): Promise<FoundPackage[]> {
  if (allFields) return await searchTexts(db, { repositories, arches, q, limit });
  const indexes = await nameIndexesOf(env, repositories);
  if (!indexes) return await searchPackages(db, { repositories, arches, q, limit });
  const search = { needle: q.toLowerCase(), arches: new Set(arches), limit };
  const all = [...indexes].map(([repositoryId, index]) => index.search(search, repositoryId));
  const ranked = [0, 1, 2, 3].flatMap((rank) => inOrder(all.map((hits) => hits[rank] ?? [])));
  return ranked.slice(0, limit).map(hitOf);
}

/** Copies each member by name. Spreading whole objects would take up most of the time for a long answer. */
function hitOf({ index, row, repositoryId }: IndexHit): FoundPackage {
  const { id, name, version, arch, checksumType, checksum, pattern } = index.package(row);
  return { id, repositoryId, name, version, release: "", arch, checksumType, checksum, pattern };
}

/** Sorts hits of equal rank by name, then by repository, then by id, as the database does. */
function inOrder(lists: readonly (readonly IndexHit[])[]): readonly IndexHit[] {
  const [only = [], ...others] = lists.filter((hits) => hits.length > 0);
  if (others.length === 0) return only;
  const named = [only, ...others].flat().map((hit) => ({ hit, name: hit.index.name(hit.row) }));
  return named
    .toSorted(
      (left, right) =>
        compare(left.name, right.name) ||
        left.hit.repositoryId - right.hit.repositoryId ||
        left.hit.row - right.hit.row,
    )
    .map(({ hit }) => hit);
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Shows a package that represents a pattern as the pattern. */
function shown(
  { id, name, url }: SearchedRepository,
  hits: readonly FoundPackage[],
  details: ReadonlyMap<number, PackageDetails>,
): RepositorySoftware {
  return {
    id,
    name,
    url,
    packages: hits
      .filter(({ pattern }) => !pattern)
      .map((hit) => ({
        name: hit.name,
        version: hit.version,
        release: hit.release,
        arch: hit.arch,
        checksum: { type: hit.checksumType, value: hit.checksum },
        ...details.get(hit.id),
      })),
    patterns: hits.flatMap(({ pattern, version, release, arch, id: hitId }) =>
      pattern
        ? [{ name: pattern, version: versionRelease({ version, release }), arch, summary: details.get(hitId)?.summary }]
        : [],
    ),
  };
}
