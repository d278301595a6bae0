import { installable, type ApplianceSoftware } from "#domain/software/resolution-request";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listVersions } from "#storage/packages";
import { listVisibleRepositories, type Repository } from "#storage/repositories";

/**
 * For each package, the repositories of the service that have it for the appliance's base system, but that the
 * appliance does not use. An appliance lacks a repository that was added to the base system after the appliance was
 * made.
 */
export async function lackingRepositories(
  db: Database,
  { accountId, baseSystem }: Pick<Appliance, "accountId" | "baseSystem">,
  { software: { arch, repositories }, names }: { software: ApplianceSoftware; names: string[] },
): Promise<Map<string, Repository>> {
  if (accountId === null || names.length === 0) return new Map();
  const own = new Set(repositories.map(({ id }) => id));
  const visible = await listVisibleRepositories(db, accountId, { baseSystem });
  const others = visible.filter(({ id, accountId: owner }) => owner === null && !own.has(id));
  const arches = installable(arch, others);
  const found = await listVersions(db, { repositories: others, arches, names });
  const byId = new Map(others.map((one) => [one.id, one]));
  return new Map(
    found.flatMap(({ name, repositoryId }): [string, Repository][] => {
      const repository = byId.get(repositoryId);
      return repository ? [[name, repository]] : [];
    }),
  );
}
