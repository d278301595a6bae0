import type { Services } from "#domain/services";
import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import { blobIdOfKey, contentsPrefix } from "#storage/blobs";
import { contentKeys, listNamedBlobs, listReleased, forgetReleased, listReleasedBefore } from "#storage/contents";
import { forgetPictureSizes } from "#storage/pictures";

/** How long contents stay, because a request that has just read a row may still need its blob. */
const graceMs = 60 * 60_000;
/** R2 deletes at most a thousand keys per call, and a blob may have two. */
const blobsPerRun = 500;

/** Removes contents that a row released over an hour ago and that no other row names. */
export async function removeReleasedContents({ env, db }: Services, now: number): Promise<void> {
  const before = new Date(now - graceMs);
  const released = await listReleasedBefore(db, before, blobsPerRun);
  const named = await listNamedBlobs(db, released);
  const unnamed = released.filter((blobId) => !named.has(blobId));
  await removeBlobs(env, unnamed.flatMap(contentKeys));
  await forgetPictureSizes(db, unnamed);
  await forgetReleased(db, released, before);
}

/** Removes contents that never got a row, because the client disconnected or the service was killed first. */
export async function removeStrayContents({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: contentsPrefix, now });
  const blobIds = [...new Set(old.map(blobIdOfKey))];
  const [named, released] = [await listNamedBlobs(db, blobIds), await listReleased(db, blobIds)];
  await removeBlobs(
    env,
    old.filter((key) => !named.has(blobIdOfKey(key)) && !released.has(blobIdOfKey(key))),
  );
}
