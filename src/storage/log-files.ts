import { logFileKey } from "./blobs.ts";

/** The signed checkpoint in R2, and its etag. */
export interface StoredCheckpoint {
  note: string;
  etag: string;
}

/** The newest checkpoint, the newest one that a witness has cosigned, and the newest one that all have cosigned. */
type Which = "checkpoint" | "cosigned" | "cosigned-by-all";

export async function findCheckpoint(
  blobs: R2Bucket,
  which: Which = "checkpoint",
): Promise<StoredCheckpoint | undefined> {
  const blob = await blobs.get(logFileKey(which));
  return blob ? { note: await blob.text(), etag: blob.etag } : undefined;
}

/** Replaces the checkpoint that was read, or writes the first one. False if another one has been written since. */
export async function replaceCheckpoint(
  blobs: R2Bucket,
  note: string,
  read: StoredCheckpoint | undefined,
  which: Which = "checkpoint",
): Promise<boolean> {
  const onlyIf = read ? { etagMatches: read.etag } : { etagDoesNotMatch: "*" };
  return (await blobs.put(logFileKey(which), note, { onlyIf })) !== null;
}

/** Writes a tile. Repeating it is harmless, because the entries determine its bytes. */
export async function putTile(blobs: R2Bucket, path: string, bytes: Uint8Array): Promise<void> {
  await blobs.put(logFileKey(path), bytes);
}

/** Reads a tile. Fails if the log lacks it. */
export async function readTile(blobs: R2Bucket, path: string): Promise<Uint8Array> {
  const tile = await findTile(blobs, path);
  if (!tile) throw new Error(`the public log has no ${path}`);
  return tile;
}

export const findTile = async (blobs: R2Bucket, path: string): Promise<Uint8Array | undefined> =>
  await (await blobs.get(logFileKey(path)))?.bytes();
