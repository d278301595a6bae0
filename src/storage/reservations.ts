import { eq, inArray, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import { fromJson, type Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { reservations } from "./schema.ts";

export type Reservation = typeof reservations.$inferSelect;

/**
 * Reserves room for a blob, replacing its earlier reservation: its `bytes`, or the rest of the quota if that is at
 * least `leastBytes`. Returns the size of the reservation. Undefined if less than `leastBytes` is left; then nothing
 * has changed.
 */
export async function reserve(
  db: Database,
  { bytes, ...row }: Reservation,
  { leastBytes, quotaBytes }: { leastBytes: number; quotaBytes: number },
): Promise<number | undefined> {
  const left = sql`${Math.floor(quotaBytes)} - ${usedBytesOf(row.accountId, { withoutBlobs: [row.blobId] })}`;
  const [reserved] = await insertFrom(
    db,
    reservations,
    { ...row, bytes: sql`min(${bytes}, left_bytes)` },
    sql`FROM (SELECT ${left} AS left_bytes) WHERE left_bytes >= ${leastBytes}`,
  )
    .onConflictDoUpdate({
      target: reservations.blobId,
      set: fromNewRow(reservations, ["bytes", "expiresAt"]),
    })
    .returning({ bytes: reservations.bytes });
  return reserved?.bytes;
}

/** Ends reservations if `when` is true: a statement for the batch that writes the rows with these blobs. */
export const unreserved = (db: Database, blobIds: readonly string[], when: SQL = sql`true`) =>
  db.delete(reservations).where(sql`${inArray(reservations.blobId, fromJson(blobIds))} AND ${when}`);

/** Ends the reservation of a blob that no row will name. */
export async function endReservation(db: Database, blobId: string): Promise<void> {
  await db.delete(reservations).where(eq(reservations.blobId, blobId));
}

export async function deleteExpiredReservations(db: Database, now: Date, limit: number): Promise<void> {
  await db.delete(reservations).where(
    sql`blob_id IN (SELECT blob_id FROM reservations WHERE expires_at <= ${now.getTime()}
                    ORDER BY expires_at LIMIT ${limit})`,
  );
}
