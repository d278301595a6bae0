import { and, asc, desc, eq, sql } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import { listImages } from "./builds-of-appliance.ts";
import { listChannels } from "./channels.ts";
import type { Database } from "./db.ts";
import { listGpgKeys } from "./gpg-keys.ts";
import { listOverlayFiles } from "./overlay-files.ts";
import { publishedVersions } from "./publications.ts";
import { accounts, appliances, shares } from "./schema.ts";

/** Names of the accounts that an appliance is shared with, in the order in which they were added. */
export async function listReaders(db: Database, applianceId: number): Promise<string[]> {
  const rows = await readersOf(db, applianceId);
  return rows.map(({ username }) => username);
}

const readersOf = (db: Database, applianceId: number) =>
  db
    .select({ username: accounts.username })
    .from(shares)
    .innerJoin(accounts, eq(accounts.id, shares.accountId))
    .where(eq(shares.applianceId, applianceId))
    .orderBy(asc(shares.createdAt), asc(shares.accountId));

/** Everything about an appliance that others can see, or could see, in one round trip. */
export async function readSharing(db: Database, applianceId: number) {
  const [readers, published, images, channels, files, keys] = await db.batch([
    readersOf(db, applianceId),
    publishedVersions(db, applianceId),
    listImages(db, applianceId),
    listChannels(db, applianceId),
    listOverlayFiles(db, applianceId),
    listGpgKeys(db, applianceId),
  ]);
  return {
    readers: readers.map(({ username }) => username),
    published: published.map(({ version }) => version),
    images,
    channels,
    files,
    keys,
  };
}

export type SharedAppliance = Awaited<ReturnType<typeof listSharedWith>>[number];

/** Appliances that others share with an account, the latest shared first, each with its owner's name. */
export const listSharedWith = (db: Database, accountId: number, limit: number) =>
  db
    .select({
      id: appliances.id,
      name: appliances.name,
      version: appliances.version,
      arch: appliances.arch,
      baseSystem: appliances.baseSystem,
      logoBlob: appliances.logoBlob,
      owner: accounts.displayName,
    })
    .from(shares)
    .innerJoin(appliances, eq(appliances.id, shares.applianceId))
    .innerJoin(accounts, eq(accounts.id, appliances.accountId))
    .where(eq(shares.accountId, accountId))
    .orderBy(desc(shares.createdAt), desc(shares.applianceId))
    .limit(limit);

/** Shares an appliance with an account. Does nothing if it is already shared or no longer exists. */
export async function addReader(db: Database, applianceId: number, accountId: number): Promise<void> {
  await db.batch([
    db
      .insert(shares)
      .select(
        sql`SELECT ${applianceId}, ${accountId}, ${Date.now()} WHERE EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId})`,
      )
      .onConflictDoNothing(),
    ...entryOfAct(db),
  ]);
}

export async function removeReader(db: Database, applianceId: number, accountId: number): Promise<void> {
  await db.batch([
    db.delete(shares).where(and(eq(shares.applianceId, applianceId), eq(shares.accountId, accountId))),
    ...entryOfAct(db),
  ]);
}
