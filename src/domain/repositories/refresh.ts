import { ownIndexTag } from "#domain/repositories/download";
import { nextOldKeys, removeBlobs } from "#domain/sweep";
import { requestImports } from "#domain/repositories/turns";
import { downloadsPrefix, importIdOfKey, solvPrefix } from "#storage/blobs";
import type { Database } from "#storage/db";
import { deleteHidden, listWithHidden } from "#storage/packages";
import { findShownImports, listOwnFiles, listUncheckedSince } from "#storage/repositories";

/** How often mirrors are asked. */
const askEveryMs = 30 * 60_000;
const repositoriesPerRun = 50;
/** Longer than a queue consumer may run: whoever began before has ended. */
const importMs = 20 * 60_000;

/** Asks for imports of what has changed: our own files are looked at every minute, mirrors every half hour. */
export async function refreshRepositories(env: Env, db: Database, now: number): Promise<void> {
  const own = await listOwnFiles(db);
  const tags = await Promise.all(own.map((repository) => ownIndexTag(env, repository)));
  const changed = own.filter(({ indexTag }, nth) => tags[nth] !== null && tags[nth] !== indexTag);
  const due = await listUncheckedSince(db, new Date(now - askEveryMs), repositoriesPerRun);
  await requestImports(
    env,
    db,
    [...changed, ...due].map(({ id }) => id),
  );
}

/**
 * Removes .solv files that no repository shows any more. Builds need none of them: their frozen input says all; an hour is
 * for those who are just loading one.
 */
export async function removeStraySolvs(env: Env, db: Database, now: number): Promise<void> {
  const old = await nextOldKeys(env, db, { prefix: solvPrefix, now });
  const shown = await findShownImports(db, [...new Set(old.map(importIdOfKey))]);
  await removeBlobs(
    env,
    old.filter((key) => !shown.has(importIdOfKey(key))),
  );
}

/** Removes what imports have downloaded that were killed: no other import reads it. */
export async function removeStrayDownloads(env: Env, db: Database, now: number): Promise<void> {
  await removeBlobs(env, await nextOldKeys(env, db, { prefix: downloadsPrefix, now }));
}

/** Removes rows of packages that imports left which were killed. */
export async function removeStrayPackages(_env: Env, db: Database, now: number): Promise<void> {
  for (const repositoryId of await listWithHidden(db, new Date(now - importMs))) await deleteHidden(db, repositoryId);
}
