import { and, asc, desc, eq, sql, type SQL } from "drizzle-orm";
import type { FrozenKey } from "#lib/contract/index";
import type { Database } from "./db.ts";
import { edited } from "./edits.ts";
import { insertWhere } from "./inserts.ts";
import { appliances, gpgKeys } from "./schema.ts";

export type GpgKey = typeof gpgKeys.$inferSelect;
export type NewGpgKey = Omit<GpgKey, "id">;

/** The columns of a key from a JSON object, one per row of `json_each(…) AS one`. */
export const keyInJson = {
  name: sql`one.value ->> 'name'`,
  target: sql`one.value ->> 'target'`,
  fingerprint: sql`one.value ->> 'fingerprint'`,
  key: sql`one.value ->> 'key'`,
};

export interface GpgKeyLimits {
  maxCount: number;
  /** The limit for all keys of an appliance together. */
  maxCharacters: number;
}

export const listGpgKeys = (db: Database, applianceId: number) =>
  db.query.gpgKeys.findMany({ where: eq(gpgKeys.applianceId, applianceId), orderBy: asc(gpgKeys.id) });

/** The newest keys of all appliances of an account, without duplicates. */
export async function listKeysOfAccount(db: Database, accountId: number, limit: number): Promise<FrozenKey[]> {
  const rows = await db
    .select({ name: gpgKeys.name, fingerprint: gpgKeys.fingerprint, armour: gpgKeys.key })
    .from(appliances)
    .innerJoin(gpgKeys, eq(gpgKeys.applianceId, appliances.id))
    .where(eq(appliances.accountId, accountId))
    .orderBy(desc(gpgKeys.id))
    .limit(limit);
  return [...new Map(rows.map((key) => [key.fingerprint, key])).values()];
}

export const findGpgKey = (db: Database, applianceId: number, id: number): Promise<GpgKey | undefined> =>
  db.query.gpgKeys.findFirst({ where: sameKey(applianceId, id) });

/** The key that was added by a request. */
export const findGpgKeyOfRequest = (db: Database, requestId: string): Promise<GpgKey | undefined> =>
  db.query.gpgKeys.findFirst({ where: eq(gpgKeys.requestId, requestId) });

/** Undefined if there is no room or the appliance is gone. The unique index decides between simultaneous requests. */
export async function addGpgKey(
  db: Database,
  row: NewGpgKey,
  limits: GpgKeyLimits,
): Promise<GpgKey | "known" | undefined> {
  const { applianceId, fingerprint, createdAt } = row;
  const known = and(eq(gpgKeys.applianceId, applianceId), eq(gpgKeys.fingerprint, fingerprint));
  const [before, [added]] = await db.batch([
    db.select({ id: gpgKeys.id }).from(gpgKeys).where(known),
    insertWhere(
      db,
      gpgKeys,
      row,
      sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId}) AND ${hasRoom(row, limits)}`,
    )
      .onConflictDoNothing()
      .returning(),
    editedIf(db, applianceId, sql`fingerprint = ${fingerprint} AND created_at = ${createdAt.getTime()}`),
  ]);
  return added ?? (before.length > 0 ? "known" : undefined);
}

/** Undefined if there is no such key. */
export async function deleteGpgKey(db: Database, applianceId: number, id: number): Promise<GpgKey | undefined> {
  const [, [gone]] = await db.batch([
    editedIf(db, applianceId, sql`id = ${id}`),
    db.delete(gpgKeys).where(sameKey(applianceId, id)).returning(),
  ]);
  return gone;
}

const sameKey = (applianceId: number, id: number) => and(eq(gpgKeys.id, id), eq(gpgKeys.applianceId, applianceId));

const hasRoom = ({ applianceId, key }: NewGpgKey, { maxCount, maxCharacters }: GpgKeyLimits): SQL =>
  sql`(SELECT count(*) < ${maxCount} AND coalesce(sum(length(key)), 0) + ${key.length} <= ${maxCharacters}
       FROM gpg_keys WHERE appliance_id = ${applianceId})`;

/** Marks the appliance as edited, if it has such a key. */
const editedIf = (db: Database, applianceId: number, suchKey: SQL) =>
  edited(db, applianceId, sql`EXISTS (SELECT 1 FROM gpg_keys WHERE appliance_id = ${applianceId} AND ${suchKey})`);
