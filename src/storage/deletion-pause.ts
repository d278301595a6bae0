import { deletionPauseKey } from "./blobs.ts";

/** Since when the sweep deletes nothing; undefined: it does. In R2, because a database that is restored forgets it. */
export async function findDeletionPause(blobs: R2Bucket): Promise<string | undefined> {
  return await (await blobs.get(deletionPauseKey))?.text();
}

/** Leaves a pause that has begun. */
export async function saveDeletionPause(blobs: R2Bucket, since: string): Promise<void> {
  await blobs.put(deletionPauseKey, since, { onlyIf: { etagDoesNotMatch: "*" } });
}

export const endDeletionPause = (blobs: R2Bucket): Promise<void> => blobs.delete(deletionPauseKey);
