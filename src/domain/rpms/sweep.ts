import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import type { Services } from "#domain/services";
import { requestImports } from "#domain/repositories/turns";
import { publishUserRepository, stateOf } from "#domain/repositories/user-repository";
import { blobIdOfKey, uploadsPrefix } from "#storage/blobs";
import { listReleased, listReleasedBefore } from "#storage/contents";
import { thawBlobs } from "#storage/frozen-blobs";
import { listUsedBlobIds, listRpms } from "#storage/rpms";
import { removeUploadBlobs } from "#storage/upload-blobs";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";
import { findPublished, listUserRepositoriesAfter, type UserRepository } from "#storage/user-repositories";

/** Blobs are written before their rows, and an upload of 2 GiB may take long. */
const graceMs = 24 * 60 * 60_000;
/** A client that has just read the index of a user repository may still need a package of it. */
const readersMs = 60 * 60_000;
const pageSize = 500;
const repositoriesPerRun = 20;
const repositoriesPosition = "user-repositories/";

/** Releases the uploads of builds that have ended. */
export const thawOverBuilds = ({ db }: Pick<Services, "db">, now: number): Promise<void> =>
  thawBlobs(db, new Date(now));

/** Removes uploads that were deleted or replaced over an hour ago and that no build waits for. */
export async function removeReleasedUploads({ env, db }: Services, now: number): Promise<void> {
  const released = await listReleasedBefore(db, new Date(now - readersMs), pageSize);
  const used = await listUsedBlobIds(db, released);
  // Most of them are other contents, which have no blob in this place. Their rows are removed together with those
  // contents.
  for (const blobId of released) if (!used.has(blobId)) await removeUploadBlobs(env.BLOBS, blobId);
}

/** Removes blobs of uploads that no row names, because the client disconnected or the service was killed first. */
export async function removeStrayUploads({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: uploadsPrefix, now, youngMs: graceMs });
  const blobIds = [...new Set(old.map(blobIdOfKey))];
  const [used, released] = [await listUsedBlobIds(db, blobIds), await listReleased(db, blobIds)];
  await removeBlobs(
    env,
    old.filter((key) => !used.has(blobIdOfKey(key)) && !released.has(blobIdOfKey(key))),
  );
}

/** Publishes user repositories whose index is older than their uploads, a few per run. */
export async function fixUserRepositories({ env, db }: Services): Promise<void> {
  const lastId = Number((await findSweepPosition(db, repositoriesPosition)) ?? 0);
  const some = await listUserRepositoriesAfter(db, lastId, repositoriesPerRun);
  const next = some.length === repositoriesPerRun ? some.at(-1)?.id.toString() : undefined;
  await saveSweepPosition(db, repositoriesPosition, next);
  for (const repository of some) await fix({ env, db }, repository);
}

async function fix({ env, db }: Services, repository: UserRepository): Promise<void> {
  const published = await findPublished(env.BLOBS, repository);
  const state = stateOf(await listRpms(db, repository.accountId, repository.baseSystem));
  if (published?.state !== state) await publishUserRepository(env, repository);
  else if (published.sha256 !== repository.revision) await requestImports({ env, db }, [repository.id]);
}
