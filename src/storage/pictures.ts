import { inArray, sql } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import { contentKey, thumbnailKey } from "./blobs.ts";
import { fromJson, type Database } from "./db.ts";
import { nextEdit } from "./edits.ts";
import { insertFrom } from "./inserts.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { appliances, pictureSizes } from "./schema.ts";

export type PictureKind = "logo" | "background";

/** A picture as it was sent, and its thumbnail if that is shown instead. */
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

/** The key of the picture that is shown. */
export const shownKey = (kind: PictureKind, blobId: string): string =>
  kind === "background" ? thumbnailKey(blobId) : contentKey(blobId);

/** The new picture of an appliance; `bytes` includes its thumbnail. */
interface NewPicture {
  kind: PictureKind;
  blobId: string;
  bytes: number;
}

/** Replaces an appliance's picture; releases the old one. False if the quota is exceeded or the appliance is gone. */
export async function savePicture(
  db: Database,
  { id, accountId, quotaBytes }: { id: number; accountId: number; quotaBytes: number },
  { kind, blobId, bytes }: NewPicture,
): Promise<boolean> {
  const column = kind === "logo" ? appliances.logoBlob : appliances.backgroundBlob;
  const used = usedBytesOf(accountId, kind === "logo" ? { withoutLogoOf: id } : { withoutBackgroundOf: id });
  const owned = sql`id = ${id} AND account_id = ${accountId}`;
  // The picture's size is written only if the quota has room, and the other statements check for that row.
  const accepted = sql`${owned} AND EXISTS (SELECT 1 FROM picture_sizes WHERE blob_id = ${blobId})`;
  const [, , saved] = await db.batch([
    insertFrom(
      db,
      pictureSizes,
      { blobId, bytes },
      sql`FROM appliances WHERE ${owned} AND ${used} + ${bytes} <= ${quotaBytes}`,
    ),
    releaseBlobs(db, {
      blobId: sql`${column}`,
      from: sql`FROM appliances WHERE ${accepted} AND ${column} IS NOT NULL`,
    }),
    db
      .update(appliances)
      .set({ [kind === "logo" ? "logoBlob" : "backgroundBlob"]: blobId, lastEditedAt: nextEdit() })
      .where(accepted)
      .returning({ id: appliances.id }),
  ]);
  return saved.length > 0;
}

/** Removes an appliance's picture, if it has one. The service's default is shown instead. */
export async function clearPicture(
  db: Database,
  { id, accountId }: { id: number; accountId: number },
  kind: PictureKind,
): Promise<void> {
  const column = kind === "logo" ? appliances.logoBlob : appliances.backgroundBlob;
  const withOne = sql`id = ${id} AND account_id = ${accountId} AND ${column} IS NOT NULL`;
  await db.batch([
    releaseBlobs(db, { blobId: sql`${column}`, from: sql`FROM appliances WHERE ${withOne}` }),
    db
      .update(appliances)
      .set({ [kind === "logo" ? "logoBlob" : "backgroundBlob"]: null, lastEditedAt: nextEdit() })
      .where(withOne),
  ]);
}

/** Deletes the sizes of blobs that are gone. */
export async function forgetPictureSizes(db: Database, blobIds: string[]): Promise<void> {
  await db.delete(pictureSizes).where(inArray(pictureSizes.blobId, fromJson(blobIds)));
}
