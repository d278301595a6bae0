import type { Services } from "#domain/services";
import { endWork } from "#domain/accounts/lock";
import { deleteAppliance } from "#domain/appliances/deletion";
import { endStreams, eventsObject } from "#domain/events/events";
import { removeUpload } from "#domain/uploads/upload";
import { logFailure } from "#log/log";
import {
  deleteAccountRows,
  deleteComments,
  deleteOpinions,
  deleteSmallRows,
  markRemoved,
  pageOfAppliances,
  pageOfPublications,
  pageOfRepositories,
  pageOfRpms,
  takeRemoved,
} from "#storage/account-removal";
import type { Account } from "#storage/accounts";
import { userRepositoryFileKey } from "#storage/blobs";
import { deleteBlobsBelow } from "#storage/build-blobs";
import { releaseImport } from "#storage/imports";
import { deletePublication } from "#storage/publications";
import { deleteRepository } from "#storage/repositories";
import { pageOfResumableUploads } from "#storage/resumable-uploads";
import { deleteRpm } from "#storage/rpms";

/**
 * Removes an account. It is first marked as removed, so that no one can sign in. The sweep then deletes everything that
 * belongs to it, page by page, and finally its row. So the next run finds everything that a crash leaves behind.
 * Repeating it is safe.
 */
export async function removeAccount({ env, db }: Services, account: Account): Promise<void> {
  await markRemoved(db, account.id, new Date());
  await endStreams(env, account);
  await endWork({ env, db }, account);
}

const accountsAtOnce = 5;
const pageSize = 20;
const rowsAtOnce = 1000;
/** How long one run of the sweep works on one account. */
const maxMs = 20_000;
const pagesAtOnce = 20;

/** A chore of the sweep: continues the removal of accounts. */
export async function removeAccounts({ env, db }: Services, now: number): Promise<void> {
  for (const account of await takeRemoved(db, accountsAtOnce, new Date(now))) {
    await continueRemoval({ env, db }, account).catch((error: unknown) =>
      logFailure("could not remove an account", error, { account: account.id }),
    );
  }
}

type Step = (services: Services, account: Account) => Promise<number>;

/**
 * Each step removes one page and returns how many rows it removed. Rows are removed before the rows that they depend
 * on.
 */
const steps: readonly Step[] = [
  removeUploads,
  removePublications,
  removeAppliances,
  removeRpms,
  removeRepositories,
  ({ db }, { id }) => deleteComments(db, id, pageSize),
  ({ db }, { id }) => deleteOpinions(db, id, pageSize),
  ({ db }, { id }) => deleteSmallRows(db, id, rowsAtOnce),
];

async function continueRemoval({ env, db }: Services, account: Account): Promise<void> {
  const endsAt = Date.now() + maxMs;
  await endWork({ env, db }, account);
  let pages = 0;
  for (const step of steps) {
    while ((await step({ env, db }, account)) > 0) {
      pages += 1;
      if (pages === pagesAtOnce || Date.now() > endsAt) return;
    }
  }
  await eventsObject(env, account).forget();
  await deleteAccountRows(db, account.id);
}

async function removeUploads({ env, db }: Services, { id }: Account): Promise<number> {
  const page = await pageOfResumableUploads(db, id, pageSize);
  for (const upload of page) await removeUpload({ env, db }, upload);
  return page.length;
}

async function removePublications({ db }: Pick<Services, "db">, { id }: Account): Promise<number> {
  const page = await pageOfPublications(db, id, pageSize);
  for (const { applianceId, version } of page) await deletePublication(db, applianceId, version);
  return page.length;
}

async function removeAppliances({ env, db }: Services, { id }: Account): Promise<number> {
  const page = await pageOfAppliances(db, id, pageSize);
  for (const appliance of page) await deleteAppliance({ env, db }, appliance);
  return page.length;
}

async function removeRpms({ db }: Pick<Services, "db">, { id: accountId }: Account): Promise<number> {
  const page = await pageOfRpms(db, accountId, pageSize);
  for (const { id } of page) await deleteRpm(db, accountId, id);
  return page.length;
}

/** No appliance uses them any longer. The files of a user repository are removed before its row, which names them. */
async function removeRepositories({ env, db }: Services, { id: accountId }: Account): Promise<number> {
  const page = await pageOfRepositories(db, accountId, pageSize);
  let removed = 0;
  for (const { id, uid, isUserRepository, importId } of page) {
    if (isUserRepository) await deleteBlobsBelow(env.BLOBS, userRepositoryFileKey(uid, ""));
    if (!(await deleteRepository(db, accountId, id))) continue;
    if (importId !== null) await releaseImport(db, importId);
    removed += 1;
  }
  return removed;
}
