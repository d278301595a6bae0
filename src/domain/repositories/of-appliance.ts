import { Refusal } from "#domain/refusal";
import { getRepository, waitForImport } from "#domain/repositories/repository";
import type { Account } from "#storage/accounts";
import { listApplianceRepositories, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addApplianceRepository,
  findUserRepository,
  listVisibleByIds,
  removeApplianceRepository,
  replaceApplianceRepositories,
  type Repository,
} from "#storage/repositories";

/** The repositories that an appliance takes its software from. Every change answers the list as it is then. */
type Changed = Promise<Repository[]>;

/** Makes the list exactly these, in their order; an id that is there twice counts once. */
export async function setRepositories(db: Database, account: Account, appliance: Appliance, ids: number[]): Changed {
  const wanted = [...new Set(ids)];
  const visible = new Set((await listVisibleByIds(db, account.id, wanted)).map(({ id }) => id));
  const unknown = wanted.find((id) => !visible.has(id));
  if (unknown !== undefined) {
    throw new Refusal("invalid_repository_id", { message: `There is no repository ${unknown}.` });
  }
  await replaceApplianceRepositories(db, appliance.id, wanted);
  return await listApplianceRepositories(db, appliance.id);
}

/** A repository that the appliance already has stays where it is. */
export async function useRepository(db: Database, account: Account, appliance: Appliance, id: number): Changed {
  await getRepository(db, account.id, id, "invalid");
  await addApplianceRepository(db, appliance.id, id);
  return await listApplianceRepositories(db, appliance.id);
}

/** A repository that the appliance does not have leaves the list as it is. */
export async function dropRepository(db: Database, account: Account, appliance: Appliance, id: number): Changed {
  await getRepository(db, account.id, id, "invalid");
  await removeApplianceRepository(db, appliance.id, id);
  return await listApplianceRepositories(db, appliance.id);
}

/** How long a client waits for the import of packages that it has just uploaded. */
const importWaitMs = 10_000;

/** The account's own packages for the appliance's base system. */
export async function useUserRepository(db: Database, account: Account, appliance: Appliance): Changed {
  const repository = await findUserRepository(db, account.id, appliance.baseSystem);
  if (!repository) throw new Refusal("user_repository_not_found");
  await waitForImport(db, repository.id, importWaitMs);
  await addApplianceRepository(db, appliance.id, repository.id);
  return await listApplianceRepositories(db, appliance.id);
}
