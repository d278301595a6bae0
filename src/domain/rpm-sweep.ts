import { requestImports } from "#queues/imports";
import { publishUserRepository, stateOf } from "#domain/user-repository";
import { blobIdOfKey, uploadsPrefix } from "#storage/blobs";
import type { Database } from "#storage/db";
import { findUsedBlobIds, listRpms } from "#storage/rpms";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";
import { findPublished, listUserRepositoriesAfter, type UserRepository } from "#storage/user-repositories";

/** Blobs come before their rows, and an upload of 2 GiB may take its time. */
const graceMs = 24 * 60 * 60_000;
const pageSize = 500;
const repositoriesPerRun = 20;
const repositoriesPosition = "user-repositories/";

/** Removes blobs of uploads that no row names: the client went away, or the service was killed in between. */
export async function removeStrayUploads(env: Env, db: Database, now: number): Promise<void> {
  const cursor = await findSweepPosition(db, uploadsPrefix);
  const page = await env.BLOBS.list({
    prefix: uploadsPrefix,
    limit: pageSize,
    ...(cursor === undefined ? {} : { cursor }),
  });
  await saveSweepPosition(db, uploadsPrefix, page.truncated ? page.cursor : undefined);
  const old = page.objects.filter(({ uploaded }) => uploaded.getTime() < now - graceMs).map(({ key }) => key);
  const used = await findUsedBlobIds(db, [...new Set(old.map(blobIdOfKey))]);
  const stray = old.filter((key) => !used.has(blobIdOfKey(key)));
  if (stray.length > 0) await env.BLOBS.delete(stray);
}

/** Publishes user repositories whose index is older than their uploads, a few in each run. */
export async function mendUserRepositories(env: Env, db: Database): Promise<void> {
  const lastId = Number((await findSweepPosition(db, repositoriesPosition)) ?? 0);
  const some = await listUserRepositoriesAfter(db, lastId, repositoriesPerRun);
  const next = some.length === repositoriesPerRun ? some.at(-1)?.id.toString() : undefined;
  await saveSweepPosition(db, repositoriesPosition, next);
  for (const repository of some) await mend(env, db, repository);
}

async function mend(env: Env, db: Database, repository: UserRepository): Promise<void> {
  const published = await findPublished(env.BLOBS, repository.id);
  const state = stateOf(await listRpms(db, repository.accountId, repository.baseSystem));
  if (published?.state !== state) await publishUserRepository(env, db, repository);
  else if (published.sha256 !== repository.revision) await requestImports(env, [repository.id]);
}
