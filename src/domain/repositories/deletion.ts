import { Refusal } from "#domain/refusal";
import { getRepository } from "#domain/repositories/repository";
import type { Database } from "#storage/db";
import { releaseImport } from "#storage/imports";
import { deleteRepository, listUsersOf, type Repository } from "#storage/repositories";

/** How many appliances a refusal names. */
const maxNamed = 3;

/**
 * Removes a repository that the account imported. Builds in progress do not need it, because their frozen input
 * contains everything.
 */
export async function removeRepository(db: Database, accountId: number, id: number): Promise<void> {
  const repository = await getRepository(db, accountId, id);
  refuseOthers(repository);
  const gone = await deleteRepository(db, accountId, id);
  if (gone) {
    if (gone.importId !== null) await releaseImport(db, gone.importId);
    return;
  }
  const users = await listUsersOf(db, id, maxNamed);
  // No appliance uses it any longer: another request has deleted the repository, or the last appliance that used it.
  if (users.length === 0) throw new Refusal("invalid_repository_id", { reason: "unknown" });
  const names = users.map((one) => `“${one.name}” (${one.id})`).join(", ");
  throw new Refusal("unknown_error", {
    message: `Appliances use this repository: ${names}. Remove it from their repositories first.`,
  });
}

function refuseOthers({ accountId, isUserRepository }: Repository): void {
  if (accountId === null) {
    throw new Refusal("access_denied", {
      message: "Every account uses this repository. Only the operator can remove it.",
    });
  }
  if (isUserRepository) {
    throw new Refusal("access_denied", {
      message: "This repository is made of your uploaded packages. Delete those instead.",
    });
  }
}
