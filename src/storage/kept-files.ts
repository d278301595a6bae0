import { asc, eq, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import type { Database } from "./db.ts";
import { edited } from "./edits.ts";
import { insertFrom } from "./inserts.ts";
import { counts } from "./limits.ts";
import { fileInJson, released, type NewOverlayFile, type AddingWriter, type OverlayFile } from "./overlay-files.ts";
import { unreserved } from "./reservations.ts";
import { overlayFiles } from "./schema.ts";

export type KeptFile = Omit<NewOverlayFile, "applianceId" | "createdAt">;

/**
 * Adds files to an appliance, replacing those at the same paths. Either all files are added or none. Undefined if the
 * quota is exceeded, the account has too many files, or the appliance is gone.
 */
export async function saveOverlayFiles(
  db: Database,
  applianceId: number,
  files: readonly KeptFile[],
  { accountId, quotaBytes, most }: AddingWriter,
): Promise<OverlayFile[] | undefined> {
  const rows = JSON.stringify(files);
  const addedBytes = files.reduce((sum, { size }) => sum + size, 0);
  const owned = sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId} AND account_id = ${accountId})`;
  const blobIds = files.map(({ blobId }) => blobId);
  const replaced = replacedBy(rows, applianceId);
  const [, , , , kept] = await db.batch([
    insertFrom(
      db,
      overlayFiles,
      { ...fileInJson, applianceId, createdAt: new Date() },
      sql`FROM json_each(${rows})
          WHERE ${owned} AND ${usedBytesOf(accountId, { withoutBlobs: blobIds })} + ${addedBytes} <= ${quotaBytes}
            AND ${counts.files(accountId)} + ${files.length} <= ${most} ORDER BY key`,
    ),
    released(db, replaced),
    db.delete(overlayFiles).where(replaced),
    edited(db, applianceId, isThere(rows, applianceId)),
    db.select().from(overlayFiles).where(isOneOf(rows, applianceId)).orderBy(asc(overlayFiles.id)),
    unreserved(db, blobIds),
  ]);
  return kept.length === files.length ? kept : undefined;
}

const isOneOf = (rows: string, applianceId: number): SQL =>
  sql`${eq(overlayFiles.applianceId, applianceId)}
      AND overlay_files.blob_id IN (SELECT value ->> 'blobId' FROM json_each(${rows}))`;

/** The old files at these paths; none if the new ones were refused. */
const replacedBy = (rows: string, applianceId: number): SQL =>
  sql`overlay_files.appliance_id = ${applianceId}
      AND overlay_files.blob_id NOT IN (SELECT value ->> 'blobId' FROM json_each(${rows}))
      AND EXISTS (SELECT 1 FROM json_each(${rows}) WHERE value ->> 'path' = overlay_files.path
                    AND value ->> 'fileName' = overlay_files.file_name)
      AND ${isThere(rows, applianceId)}`;

/** Whether the new rows were added. */
const isThere = (rows: string, applianceId: number): SQL =>
  sql`EXISTS (SELECT 1 FROM overlay_files AS fresh WHERE fresh.appliance_id = ${applianceId}
              AND fresh.blob_id IN (SELECT value ->> 'blobId' FROM json_each(${rows})))`;
