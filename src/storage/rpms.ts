import { and, asc, eq, ne, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import { fromJson, type Database } from "./db.ts";
import { insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { unreserved } from "./reservations.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { rpms } from "./schema.ts";

export type Rpm = typeof rpms.$inferSelect;
export type NewRpm = Omit<typeof rpms.$inferInsert, "id">;

export const listRpms = (db: Database, accountId: number, baseSystem: string): Promise<Rpm[]> =>
  db.query.rpms.findMany({
    where: and(eq(rpms.accountId, accountId), eq(rpms.baseSystem, baseSystem)),
    orderBy: asc(rpms.id),
  });

export const findRpm = (db: Database, accountId: number, id: number): Promise<Rpm | undefined> =>
  db.query.rpms.findFirst({ where: and(eq(rpms.id, id), eq(rpms.accountId, accountId)) });

/** Whether a blob currently belongs to the account's uploads for a base system. */
export async function isUploadOf(
  db: Database,
  { accountId, baseSystem }: { accountId: number | null; baseSystem: string },
  blobId: string,
): Promise<boolean> {
  const found = await db.query.rpms.findFirst({
    columns: { accountId: true, baseSystem: true },
    where: eq(rpms.blobId, blobId),
  });
  return found !== undefined && found.accountId === accountId && found.baseSystem === baseSystem;
}

/** The upload that was added by a request. */
export const findRpmOfRequest = (db: Database, requestId: string): Promise<Rpm | undefined> =>
  db.query.rpms.findFirst({ where: eq(rpms.requestId, requestId) });

/**
 * Adds an upload. For a single RPM, if the same package was uploaded before, its row gets the new content and the old
 * blob is released. Undefined if the quota is exceeded, or the account has too many uploads.
 */
export async function addRpm(
  db: Database,
  row: NewRpm,
  { quotaBytes, most }: { quotaBytes: number; most: number },
): Promise<Rpm | undefined> {
  const replaced = samePackage(row);
  const others = sql`${counts.uploadedPackages(row.accountId)} - (SELECT count(*) FROM rpms WHERE ${replaced})`;
  const allowed = sql`(${fits(row, { replaced, quotaBytes })} AND ${others} < ${most})`;
  const [, [rpm]] = await db.batch([
    release(db, sql`${replaced} AND ${allowed}`),
    insertWhere(db, rpms, row, allowed)
      .onConflictDoUpdate({ target: [rpms.accountId, rpms.baseSystem, rpms.nevra], set: contentOf(row) })
      .returning(),
    unreserved(db, [row.blobId]),
  ]);
  return rpm;
}

/**
 * Replaces the content of an upload, and deletes another upload of the same package. The old contents of both are
 * released. Undefined if the quota is exceeded or the upload is gone.
 */
export async function replaceRpm(db: Database, id: number, row: NewRpm, quotaBytes: number): Promise<Rpm | undefined> {
  const replaced = sql`(${samePackage(row)} OR ${eq(rpms.id, id)})`;
  const allowed = fits(row, { replaced, quotaBytes });
  const exists = sql`EXISTS (SELECT 1 FROM rpms AS target WHERE target.id = ${id})`;
  const [, , [rpm]] = await db.batch([
    release(db, sql`${replaced} AND ${eq(rpms.accountId, row.accountId)} AND ${allowed} AND ${exists}`),
    db.delete(rpms).where(and(samePackage(row), ne(rpms.id, id), allowed, exists)),
    db
      .update(rpms)
      .set(contentOf(row))
      .where(and(eq(rpms.id, id), eq(rpms.accountId, row.accountId), allowed))
      .returning(),
    unreserved(db, [row.blobId]),
  ]);
  return rpm;
}

/** Deletes an upload and releases its blob. Undefined if the upload is already gone. */
export async function deleteRpm(db: Database, accountId: number, id: number): Promise<Rpm | undefined> {
  const it = sql`${eq(rpms.id, id)} AND ${eq(rpms.accountId, accountId)}`;
  const [, [gone]] = await db.batch([release(db, it), db.delete(rpms).where(it).returning()]);
  return gone;
}

/** Releases the blobs of these rows, in the batch that changes the rows. */
const release = (db: Database, which: SQL) =>
  releaseBlobs(db, { blobId: sql`rpms.blob_id`, from: sql`FROM rpms WHERE ${which}` });

/** Returns those of the blobs that are named by an upload, finished or not, or by a build that has not ended. */
export async function listUsedBlobIds(db: Database, blobIds: string[]): Promise<Set<string>> {
  const asked = fromJson(blobIds);
  const rows = await db.all<{ blobId: string }>(
    sql`SELECT blob_id AS blobId FROM rpms WHERE blob_id IN ${asked}
        UNION SELECT blob_id FROM resumable_uploads WHERE blob_id IN ${asked}
        UNION SELECT blob_id FROM frozen_blobs WHERE blob_id IN ${asked}`,
  );
  return new Set(rows.map(({ blobId }) => blobId));
}

/** The condition for a single RPM of the same name, version and architecture. Archives are never the same. */
const samePackage = ({ accountId, baseSystem, nevra }: NewRpm): SQL =>
  sql`(rpms.account_id = ${accountId} AND rpms.base_system = ${baseSystem} AND rpms.nevra = ${nevra ?? null})`;

const fits = (row: NewRpm, { replaced, quotaBytes }: { replaced: SQL; quotaBytes: number }): SQL =>
  sql`${usedBytesOf(row.accountId, { withoutBlobs: [row.blobId] })} + ${row.storedBytes}
      - (SELECT coalesce(sum(rpms.stored_bytes), 0) FROM rpms WHERE ${replaced}) <= ${quotaBytes}`;

function contentOf({ accountId: _account, baseSystem: _base, ...content }: NewRpm) {
  return content;
}
