import { and, eq, sql } from "drizzle-orm";
import { contentKey, thumbnailKey } from "./blobs.ts";
import type { Database } from "./db.ts";
import { appliances, releasedBlobs } from "./schema.ts";

export type PictureKind = "logo" | "background";

/** A picture as it was sent, and what is shown of it where that is something else. */
export interface PictureFiles {
  original: Uint8Array;
  thumbnail: Uint8Array | undefined;
}

export async function putPicture(blobs: R2Bucket, blobId: string, files: PictureFiles): Promise<void> {
  await blobs.put(contentKey(blobId), files.original);
  if (files.thumbnail) await blobs.put(thumbnailKey(blobId), files.thumbnail);
}

export const removePicture = (blobs: R2Bucket, blobId: string): Promise<void> =>
  blobs.delete([contentKey(blobId), thumbnailKey(blobId)]);

/** The key of what is shown of a picture. */
export const shownKey = (kind: PictureKind, blobId: string): string =>
  kind === "background" ? thumbnailKey(blobId) : contentKey(blobId);

/** Gives an appliance its new picture and releases the one before it. False: the appliance is gone. */
export async function savePicture(
  db: Database,
  { id, accountId }: { id: number; accountId: number },
  { kind, blobId }: { kind: PictureKind; blobId: string },
): Promise<boolean> {
  const now = new Date();
  const column = kind === "logo" ? appliances.logoBlob : appliances.backgroundBlob;
  const [, saved] = await db.batch([
    db
      .insert(releasedBlobs)
      .select(
        sql`SELECT ${column}, ${now.getTime()} FROM appliances
            WHERE id = ${id} AND account_id = ${accountId} AND ${column} IS NOT NULL`,
      )
      .onConflictDoUpdate({ target: releasedBlobs.blobId, set: { releasedAt: now } }),
    db
      .update(appliances)
      .set({ [kind === "logo" ? "logoBlob" : "backgroundBlob"]: blobId, lastEditedAt: now })
      .where(and(eq(appliances.id, id), eq(appliances.accountId, accountId)))
      .returning({ id: appliances.id }),
  ]);
  return saved.length > 0;
}
