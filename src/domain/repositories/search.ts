import { versionRelease } from "#contract/index";
import type { SoftwareMap, RepositorySoftware } from "#domain/images/installed-software";
import { listUsable } from "#domain/repositories/of-appliance";
import { installable } from "#domain/software/resolution-request";
import { listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { searchPackages, type FoundPackage } from "#storage/packages";
import type { Repository } from "#storage/repositories";

/** A client that looks for one letter gets the best of it. */
const maxHits = 1000;

/** Packages and patterns that match. The repository with the best hit is first, and so is the best hit of each. */
export async function searchSoftware(
  db: Database,
  appliance: Appliance,
  request: { accountId: number; q: string; allFields: boolean; allRepositories: boolean },
): Promise<SoftwareMap> {
  const { accountId, q, allFields, allRepositories } = request;
  const repositories = await (allRepositories
    ? listUsable(db, accountId, appliance)
    : listApplianceRepositories(db, appliance.id));
  const repositoryIds = repositories.map(({ id }) => id);
  const arches = installable(appliance.arch, repositories);
  const found = await searchPackages(db, { repositoryIds, arches, q, allFields, limit: maxHits });
  const known = new Map(repositories.map((repository) => [repository.id, repository]));
  const byRepository = [...Map.groupBy(found, ({ repositoryId }) => repositoryId)].flatMap(([id, hits]) => {
    const repository = known.get(id);
    return repository ? [shown(repository, hits)] : [];
  });
  return { applianceId: appliance.id, repositories: byRepository };
}

/** A package that represents a pattern is shown as the pattern. */
function shown({ id, name, url }: Repository, hits: FoundPackage[]): RepositorySoftware {
  return {
    id,
    name,
    url,
    packages: hits
      .filter(({ pattern }) => pattern === null)
      .map(({ checksum, checksumType, ...hit }) => ({ ...hit, checksum: { type: checksumType, value: checksum } })),
    patterns: hits.flatMap(({ pattern, version, release, arch }) =>
      pattern === null ? [] : [{ name: pattern, version: versionRelease({ version, release }), arch }],
    ),
  };
}
