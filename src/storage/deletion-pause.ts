import { deletionPauseKey } from "./blobs.ts";

/**
 * When the sweep's deletions were paused; undefined if they are not. Stored in R2, because restoring the database would
 * lose it.
 */
export async function findDeletionPause(blobs: R2Bucket): Promise<string | undefined> {
  return await (await blobs.get(deletionPauseKey))?.text();
}

/** Pauses the sweep's deletions. If they are already paused, the time stays. */
export async function saveDeletionPause(blobs: R2Bucket, since: string): Promise<void> {
  await blobs.put(deletionPauseKey, since, { onlyIf: { etagDoesNotMatch: "*" } });
}

export const endDeletionPause = (blobs: R2Bucket): Promise<void> => blobs.delete(deletionPauseKey);
