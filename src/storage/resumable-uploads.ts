import { and, asc, eq, isNull, lt, or, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import { fromJson, type Database } from "./db.ts";
import { insertFrom, insertWhere } from "./inserts.ts";
import { counts } from "./limits.ts";
import { resumableUploadParts as parts, resumableUploads as uploads } from "./schema.ts";

export type ResumableUpload = typeof uploads.$inferSelect;
export type NewResumableUpload = Omit<typeof uploads.$inferInsert, "id">;
export type StoredPart = Omit<typeof parts.$inferSelect, "uploadId">;

/** Undefined if the account has reached its limit of uploads, or its quota is exceeded. */
export async function addResumableUpload(
  db: Database,
  row: NewResumableUpload,
  { most, quotaBytes }: { most: number; quotaBytes: number },
): Promise<ResumableUpload | undefined> {
  const isRoom = sql`${counts.uploads(row.accountId)} < ${most}
    AND ${usedBytesOf(row.accountId)} + ${row.length} <= ${quotaBytes}`;
  const [added] = await insertWhere(db, uploads, row, isRoom).returning();
  return added;
}

export const findResumableUpload = (
  db: Database,
  accountId: number,
  id: number,
): Promise<ResumableUpload | undefined> =>
  db.query.resumableUploads.findFirst({ where: and(eq(uploads.id, id), eq(uploads.accountId, accountId)) });

/** The upload that was begun by a request. */
export const findResumableUploadOfRequest = (db: Database, requestId: string): Promise<ResumableUpload | undefined> =>
  db.query.resumableUploads.findFirst({ where: eq(uploads.requestId, requestId) });

/** The unfinished uploads of an account, which are few. */
export const listUnfinishedUploads = (db: Database, accountId: number): Promise<ResumableUpload[]> =>
  db.query.resumableUploads.findMany({
    where: and(eq(uploads.accountId, accountId), isNull(uploads.finishedAt)),
    orderBy: asc(uploads.id),
  });

export const pageOfResumableUploads = (db: Database, accountId: number, limit: number): Promise<ResumableUpload[]> =>
  db.query.resumableUploads.findMany({ where: eq(uploads.accountId, accountId), limit });

/** Uploads that have expired and that no request is writing. */
export const listExpiredUploads = (db: Database, now: Date, limit: number): Promise<ResumableUpload[]> =>
  db.query.resumableUploads.findMany({
    where: and(lt(uploads.expiresAt, now), isFree(now)),
    orderBy: asc(uploads.expiresAt),
    limit,
  });

/** The right to write to an upload. Only one request can hold it. */
export interface Lease {
  leaseId: string;
  leaseEndsAt: Date;
}

/**
 * Takes the lease of an upload that is unchanged since it was read. Undefined if another request has the lease, has
 * written to the upload, or has removed it.
 */
export async function takeLease(
  db: Database,
  { id, offset }: Pick<ResumableUpload, "id" | "offset">,
  lease: Lease,
  now: Date,
): Promise<ResumableUpload | undefined> {
  const isAsItWas = and(eq(uploads.id, id), eq(uploads.offset, offset), isFree(now));
  const [taken] = await db.update(uploads).set(lease).where(isAsItWas).returning();
  return taken;
}

export async function renewLease(db: Database, upload: ResumableUpload, leaseEndsAt: Date): Promise<void> {
  await db.update(uploads).set({ leaseEndsAt }).where(isHeld(upload));
}

export async function endLease(db: Database, upload: ResumableUpload): Promise<void> {
  await db.update(uploads).set({ leaseId: null, leaseEndsAt: null }).where(isHeld(upload));
}

/** The progress of an upload: how much is stored, and when it expires. */
export type Progress = Pick<ResumableUpload, "offset" | "expiresAt">;

/**
 * Records the progress, together with the part that the new bytes have filled, if any. False if the lease is lost; then
 * nothing was written.
 */
export async function recordProgress(
  db: Database,
  upload: ResumableUpload,
  progress: Progress,
  part?: StoredPart,
): Promise<boolean> {
  const update = db.update(uploads).set(progress).where(isHeld(upload)).returning({ id: uploads.id });
  if (!part) return (await update).length > 0;
  const added = insertFrom(
    db,
    parts,
    { uploadId: sql`id`, ...part },
    sql`FROM resumable_uploads WHERE ${isHeld(upload)}`,
  ).onConflictDoUpdate({ target: [parts.uploadId, parts.number], set: { etag: part.etag } });
  const [, updated] = await db.batch([added, update]);
  return updated.length > 0;
}

/** The parts of an upload, in the order of the file. */
export const listParts = (db: Database, uploadId: number): Promise<StoredPart[]> =>
  db
    .select({ number: parts.number, etag: parts.etag })
    .from(parts)
    .where(eq(parts.uploadId, uploadId))
    .orderBy(asc(parts.number));

/** Records that the whole file is stored and that a row names it. */
export async function finishUpload(
  db: Database,
  upload: ResumableUpload,
  made: Pick<ResumableUpload, "madeId" | "finishedAt" | "expiresAt">,
): Promise<void> {
  await db
    .update(uploads)
    .set({ ...made, offset: upload.length, leaseId: null, leaseEndsAt: null })
    .where(isHeld(upload));
}

/** Deletes an upload and the rows of its parts. */
export async function deleteResumableUpload(db: Database, id: number): Promise<void> {
  await db.delete(uploads).where(eq(uploads.id, id));
}

/** Returns those of the blobs that an upload names. */
export async function listBlobsOfUploads(db: Database, blobIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.all<{ blobId: string }>(
    sql`SELECT blob_id AS blobId FROM resumable_uploads
        WHERE blob_id IN ${fromJson(blobIds)}`,
  );
  return new Set(rows.map(({ blobId }) => blobId));
}

const isHeld = ({ id, leaseId }: ResumableUpload): SQL =>
  sql`${eq(uploads.id, id)} AND ${uploads.leaseId} = ${leaseId}`;

const isFree = (now: Date) => or(isNull(uploads.leaseEndsAt), lt(uploads.leaseEndsAt, now));
