import { deletionPauseKey } from "./blobs.ts";

/** When the sweep's deletions were paused; undefined if not. In R2, because a restored database would lose it. */
export async function findDeletionPause(blobs: R2Bucket): Promise<string | undefined> {
  return await (await blobs.get(deletionPauseKey))?.text();
}

/** Pauses the sweep's deletions. A pause that has begun keeps its time. */
export async function saveDeletionPause(blobs: R2Bucket, since: string): Promise<void> {
  await blobs.put(deletionPauseKey, since, { onlyIf: { etagDoesNotMatch: "*" } });
}

export const endDeletionPause = (blobs: R2Bucket): Promise<void> => blobs.delete(deletionPauseKey);
