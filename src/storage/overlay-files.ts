import { and, asc, eq, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import type { Database } from "./db.ts";
import { edited } from "./edits.ts";
import { insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { unreserved } from "./reservations.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { appliances, overlayFiles } from "./schema.ts";

export type OverlayFile = typeof overlayFiles.$inferSelect;
export type NewOverlayFile = Omit<typeof overlayFiles.$inferInsert, "id">;
export type FileContent = Pick<OverlayFile, "blobId" | "size" | "md5" | "sha256">;

/** The account that writes, and its quota. */
export interface Writer {
  accountId: number;
  quotaBytes: number;
}

/** Overlay files in the order in which they were added. A build copies them in the same order. */
export const listOverlayFiles = (db: Database, applianceId: number) =>
  db.query.overlayFiles.findMany({ where: eq(overlayFiles.applianceId, applianceId), orderBy: asc(overlayFiles.id) });

/** An overlay file of any account. The caller checks that its appliance may be read. */
export const findAnyOverlayFile = (db: Database, id: number): Promise<OverlayFile | undefined> =>
  db.query.overlayFiles.findFirst({ where: eq(overlayFiles.id, id) });

/** The overlay file that was added by a request. */
export const findOverlayFileOfRequest = (db: Database, requestId: string): Promise<OverlayFile | undefined> =>
  db.query.overlayFiles.findFirst({ where: eq(overlayFiles.requestId, requestId) });

/** An account that adds files, and how many it may have. */
export interface AddingWriter extends Writer {
  most: number;
}

/** Undefined if the quota is exceeded, the account has too many files, or the appliance is gone. */
export async function addOverlayFile(
  db: Database,
  row: NewOverlayFile,
  { accountId, quotaBytes, most }: AddingWriter,
): Promise<OverlayFile | undefined> {
  const owned = sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${row.applianceId} AND account_id = ${accountId})`;
  const [[added]] = await db.batch([
    insertWhere(
      db,
      overlayFiles,
      row,
      sql`${owned} AND ${usedBytesOf(accountId, { withoutBlobs: [row.blobId] })} + ${row.size} <= ${quotaBytes}
          AND ${counts.files(accountId)} < ${most}`,
    ).returning(),
    editedBy(db, row.applianceId, accountId),
    unreserved(db, [row.blobId]),
  ]);
  return added;
}

/** Undefined if the file is gone or belongs to another account. */
export async function changeOverlayFile(
  db: Database,
  { id, applianceId }: OverlayFile,
  change: Partial<NewOverlayFile>,
  accountId: number,
): Promise<OverlayFile | undefined> {
  const [[changed]] = await db.batch([
    db
      .update(overlayFiles)
      .set(change)
      .where(and(eq(overlayFiles.id, id), ownedBy(accountId)))
      .returning(),
    editedBy(db, applianceId, accountId),
  ]);
  return changed;
}

/** Replaces the content of a file and releases the old one. Undefined if the quota is exceeded or the file is gone. */
export async function replaceContent(
  db: Database,
  { id, applianceId }: OverlayFile,
  content: FileContent,
  { accountId, quotaBytes }: Writer,
): Promise<OverlayFile | undefined> {
  const used = usedBytesOf(accountId, { withoutFile: id, withoutBlobs: [content.blobId] });
  const allowed = sql`${eq(overlayFiles.id, id)} AND ${ownedBy(accountId)} AND ${used} + ${content.size} <= ${quotaBytes}`;
  const [, [replaced]] = await db.batch([
    released(db, allowed),
    db.update(overlayFiles).set(content).where(allowed).returning(),
    editedBy(db, applianceId, accountId),
    unreserved(db, [content.blobId]),
  ]);
  return replaced;
}

/** False if the file is already gone or belongs to another account. */
export async function deleteOverlayFile(
  db: Database,
  { id, applianceId }: OverlayFile,
  accountId: number,
): Promise<boolean> {
  const itself = sql`${eq(overlayFiles.id, id)} AND ${ownedBy(accountId)}`;
  const [, gone] = await db.batch([
    released(db, itself),
    db.delete(overlayFiles).where(itself).returning({ id: overlayFiles.id }),
    editedBy(db, applianceId, accountId),
  ]);
  return gone.length > 0;
}

/** The columns of `overlay_files` or `published_files` that a copy of a row needs. */
export const copiedFile = {
  fileName: sql`file_name`,
  path: sql`path`,
  owner: sql`owner`,
  group: sql`group_name`,
  permissions: sql`permissions`,
  enabled: sql`enabled`,
  size: sql`size`,
  md5: sql`md5`,
  sha256: sql`sha256`,
  blobId: sql`blob_id`,
  createdAt: sql`created_at`,
};

/** The same columns, read from a JSON object with these names. */
export const fileInJson = {
  fileName: sql`value ->> 'fileName'`,
  path: sql`value ->> 'path'`,
  owner: sql`value ->> 'owner'`,
  group: sql`value ->> 'group'`,
  permissions: sql`value ->> 'permissions'`,
  enabled: sql`value ->> 'enabled'`,
  size: sql`value ->> 'size'`,
  md5: sql`value ->> 'md5'`,
  sha256: sql`value ->> 'sha256'`,
  blobId: sql`value ->> 'blobId'`,
};

const ownedBy = (accountId: number): SQL =>
  sql`overlay_files.appliance_id IN (SELECT id FROM appliances WHERE account_id = ${accountId})`;

/** Releases the contents of these files. The sweep deletes them unless another row names them. */
export const released = (db: Database, which: SQL) =>
  releaseBlobs(db, { blobId: sql`blob_id`, from: sql`FROM overlay_files WHERE ${which}` });

/** Marks the appliance as edited, if the previous statement in the batch has changed something. */
const editedBy = (db: Database, applianceId: number, accountId: number) =>
  edited(db, applianceId, sql`${eq(appliances.accountId, accountId)} AND changes() > 0`);
