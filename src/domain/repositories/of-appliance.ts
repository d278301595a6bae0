import { Refusal } from "#domain/refusal";
import { getRepository, waitForImport } from "#domain/repositories/repository";
import type { Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  addApplianceRepository,
  findUserRepository,
  listVisibleByIds,
  removeApplianceRepository,
  replaceApplianceRepositories,
} from "#storage/repositories";

/** Makes the list of an appliance exactly these, in their order; one id twice is one. */
export async function setRepositories(db: Database, account: Account, appliance: Appliance, ids: number[]) {
  const wanted = [...new Set(ids)];
  const visible = new Set((await listVisibleByIds(db, account.id, wanted)).map(({ id }) => id));
  const unknown = wanted.find((id) => !visible.has(id));
  if (unknown !== undefined) {
    throw new Refusal("invalid_repository_id", { message: `There is no repository ${unknown}.` });
  }
  await replaceApplianceRepositories(db, appliance.id, wanted);
}

/** One that the appliance has already stays where it is. */
export async function useRepository(db: Database, account: Account, appliance: Appliance, id: number): Promise<void> {
  await getRepository(db, account.id, id, "parameter");
  await addApplianceRepository(db, appliance.id, id);
}

/** One that the appliance does not have leaves the list as it is. */
export async function dropRepository(db: Database, account: Account, appliance: Appliance, id: number): Promise<void> {
  await getRepository(db, account.id, id, "parameter");
  await removeApplianceRepository(db, appliance.id, id);
}

/** How long a client waits for the packages that it has just uploaded. */
const importWaitMs = 10_000;

/** The account's own packages for the appliance's base system. */
export async function useUserRepository(db: Database, account: Account, appliance: Appliance): Promise<void> {
  const repository = await findUserRepository(db, account.id, appliance.baseSystem);
  if (!repository) throw new Refusal("user_repository_not_found");
  await waitForImport(db, repository.id, importWaitMs);
  await addApplianceRepository(db, appliance.id, repository.id);
}
