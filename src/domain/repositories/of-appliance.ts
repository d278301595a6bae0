import { Refusal } from "#domain/refusal";
import { getRepository, waitForImport } from "#domain/repositories/repository";
import type { Account } from "#storage/accounts";
import { packageTypeOfBase, packageTypeOfRepository, type RepositoryType } from "#model/catalogue";
import { findBaseSystem, listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addApplianceRepository,
  findUserRepository,
  listVisibleByIds,
  listVisibleRepositories,
  removeApplianceRepository,
  replaceApplianceRepositories,
  type Repository,
} from "#storage/repositories";

type BaseSystem = NonNullable<Awaited<ReturnType<typeof findBaseSystem>>>;

/** The repositories that provide an appliance's software. Every change returns the new list. */
type Changed = Promise<Repository[]>;

/** Replaces the list with these repositories, in their order. Repeated ids count once. */
export async function setRepositories(db: Database, account: Account, appliance: Appliance, ids: number[]): Changed {
  const wanted = [...new Set(ids)];
  await getUsable(db, { accountId: account.id, appliance }, wanted);
  await replaceApplianceRepositories(db, appliance.id, wanted);
  return await listApplianceRepositories(db, appliance.id);
}

/** Repositories that an account may add to an appliance, in any order. */
export async function getUsable(
  db: Database,
  { accountId, appliance }: { accountId: number; appliance: Appliance },
  ids: number[],
): Promise<Repository[]> {
  const visible = await listVisibleByIds(db, accountId, ids);
  const unknown = ids.find((id) => !visible.some((one) => one.id === id));
  if (unknown !== undefined) {
    throw new Refusal("invalid_repository_id", { message: `There is no repository ${unknown}.` });
  }
  await refuseOtherType(db, appliance, visible);
  return visible;
}

/** Adds a repository. If the appliance already has it, its place in the list stays the same. */
export async function useRepository(db: Database, account: Account, appliance: Appliance, id: number): Changed {
  await refuseOtherType(db, appliance, [await getRepository(db, account.id, id, "invalid")]);
  await addApplianceRepository(db, appliance.id, id);
  return await listApplianceRepositories(db, appliance.id);
}

/** Removes a repository from the appliance, if it is there. */
export async function dropRepository(db: Database, account: Account, appliance: Appliance, id: number): Changed {
  await getRepository(db, account.id, id, "invalid");
  await removeApplianceRepository(db, appliance.id, id);
  return await listApplianceRepositories(db, appliance.id);
}

/** The repositories that the account can see and that have packages of the appliance's type. */
export async function listUsable(
  db: Database,
  accountId: number,
  appliance: Pick<Appliance, "baseSystem">,
): Promise<Repository[]> {
  const [base, visible] = await Promise.all([
    findBaseSystem(db, appliance.baseSystem),
    listVisibleRepositories(db, accountId),
  ]);
  return base ? visible.filter((one) => isOfType(one, base)) : visible;
}

/** Refuses repositories of the other package type, because no image can have both types. */
export async function refuseOtherType(
  db: Database,
  { baseSystem }: Pick<Appliance, "baseSystem">,
  repositories: readonly Repository[],
): Promise<void> {
  const base = await findBaseSystem(db, baseSystem);
  const other = base && repositories.find((one) => !isOfType(one, base));
  if (!other) return;
  const [packages, wanted] = [packageTypeOfRepository(other), packageTypeOfBase(base.facts)];
  const message = `The repository ${other.name} has ${packages} packages, but ${base.facts.title} needs ${wanted} packages.`;
  throw new Refusal("invalid_repository_id", { message });
}

const isOfType = (repository: { type: RepositoryType }, { facts }: BaseSystem) =>
  packageTypeOfRepository(repository) === packageTypeOfBase(facts);

/** How long a client waits for the import of packages that it has just uploaded. */
const importWaitMs = 10_000;

/** Adds the account's own packages for the appliance's base system. */
export async function useUserRepository(db: Database, account: Account, appliance: Appliance): Changed {
  const repository = await findUserRepository(db, account.id, appliance.baseSystem);
  if (!repository) throw new Refusal("user_repository_not_found");
  await waitForImport(db, repository.id, importWaitMs);
  await addApplianceRepository(db, appliance.id, repository.id);
  return await listApplianceRepositories(db, appliance.id);
}
