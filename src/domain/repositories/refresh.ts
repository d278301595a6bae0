import { isOwnRepository } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { statesEndBefore } from "#domain/repositories/as-of";
import { ownIndexTag } from "#domain/repositories/download";
import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import { requestImports } from "#domain/repositories/turns";
import { downloadsPrefix, importIdOfKey, solvPrefix } from "#storage/blobs";
import { listImports, listUnusedAfter, releaseImport } from "#storage/imports";
import { deletePackages, listImportsWithPackages } from "#storage/packages";
import { listOwnFiles, listUncheckedSince, type Repository } from "#storage/repositories";
import { removeStates } from "#storage/repository-states";
import type { Database } from "#storage/db";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

/** How often mirrors are checked. */
const askEveryMs = 30 * 60_000;
/** The same for mirrors that an appliance follows: slightly less than the time between two checks of the appliance. */
const askFollowedEveryMs = 4 * 60_000;
const repositoriesPerRun = 50;
/** Longer than a queue consumer may run, so an import that began earlier has ended. */
const importMs = 20 * 60_000;
/** How many imports one run checks. The next run continues after them. */
const importsPerRun = 500;
const importsPosition = "imports";
const packagesPosition = "packages";

/**
 * Requests imports of repositories that may have changed. The service's own repositories are checked every minute,
 * mirrors every half hour.
 */
export async function refreshRepositories({ env, db }: Services, now: number): Promise<void> {
  const own = await listOwnFiles(db);
  const tags = await Promise.all(own.map((repository) => ownIndexTag(env, repository)));
  const changed = own.filter(({ indexTag }, nth) => tags[nth] !== null && tags[nth] !== indexTag);
  const due = await listUncheckedSince(db, new Date(now - askEveryMs), repositoriesPerRun);
  await requestImports(
    { env, db },
    [...changed, ...due].map(({ id }) => id),
  );
}

/**
 * Requests imports of mirrors that were not checked for some minutes. It is for repositories that appliances with
 * automatic builds follow. Returns whether there are any.
 */
export async function refreshFollowed(
  services: Services,
  repositories: readonly Pick<Repository, "id" | "url" | "checkedAt">[],
  now: number,
): Promise<boolean> {
  const isDue = ({ url, checkedAt }: Pick<Repository, "url" | "checkedAt">) =>
    !isOwnRepository(url) && checkedAt !== null && checkedAt.getTime() < now - askFollowedEveryMs;
  const due = repositories.filter(isDue).map(({ id }) => id);
  await requestImports(services, due);
  return due.length > 0;
}

/**
 * Removes .solv files of imports that no longer exist, and of earlier states that are too old. Builds do not need them,
 * because their frozen input contains everything. A resolution that is loading one has an hour to finish.
 */
export async function removeStraySolvs({ env, db }: Services, now: number): Promise<void> {
  await removeStates(db, statesEndBefore(env, now));
  const old = await nextOldKeys({ env, db }, { prefix: solvPrefix, now });
  const known = await listImports(db, [...new Set(old.map(importIdOfKey))]);
  await removeBlobs(
    env,
    old.filter((key) => !known.has(importIdOfKey(key))),
  );
}

/** Removes downloads of imports that were killed. No other import reads them. */
export async function removeStrayDownloads({ env, db }: Services, now: number): Promise<void> {
  await removeBlobs(env, await nextOldKeys({ env, db }, { prefix: downloadsPrefix, now }));
}

/**
 * Removes imports that no repository shows, with their packages, one page at a time. They were killed, or lost a race.
 */
export async function removeStrayPackages({ db }: Pick<Services, "db">, now: number): Promise<void> {
  const id = (await findSweepPosition(db, importsPosition)) ?? "";
  const { unused, next } = await listUnusedAfter(db, { id, before: new Date(now - importMs), limit: importsPerRun });
  await saveSweepPosition(db, importsPosition, next);
  for (const one of unused) await releaseImport(db, one);
  await removeUnknownPackages(db);
}

/**
 * Removes packages of imports that have no row, one page of imports at a time. The row is written first and deleted
 * last, so this happens only after the database was restored to an earlier moment than that of the packages.
 */
async function removeUnknownPackages(db: Database): Promise<void> {
  const after = (await findSweepPosition(db, packagesPosition)) ?? "";
  const page = await listImportsWithPackages(db, { after, limit: importsPerRun });
  const known = await listImports(db, page);
  await saveSweepPosition(db, packagesPosition, page.length === importsPerRun ? page.at(-1) : undefined);
  for (const id of page) if (!known.has(id)) await deletePackages(db, id);
}
