import { and, asc, eq, isNull, or, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import {
  applianceRepositories,
  appliances,
  baseSystems,
  builds,
  gpgKeys,
  overlayFiles,
  repositories,
  selections,
} from "./schema.ts";

export type Appliance = typeof appliances.$inferSelect;
export type NewAppliance = typeof appliances.$inferInsert;
export type Selection = typeof selections.$inferSelect;
export type Repository = typeof repositories.$inferSelect;

/** An appliance of this account. */
export const findAppliance = (db: Database, accountId: number, id: number): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({ where: and(eq(appliances.id, id), eq(appliances.accountId, accountId)) });

/** An appliance of this account, or a template, which everybody may read. */
export const findReadableAppliance = (db: Database, accountId: number, id: number): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({
    where: and(eq(appliances.id, id), or(eq(appliances.accountId, accountId), isNull(appliances.accountId))),
  });

export const listSelection = (db: Database, applianceId: number): Promise<Selection[]> =>
  db.query.selections.findMany({ where: eq(selections.applianceId, applianceId), orderBy: asc(selections.id) });

/** The repositories of an appliance in their order. */
export async function listApplianceRepositories(db: Database, applianceId: number): Promise<Repository[]> {
  const rows = await db
    .select({ repository: repositories })
    .from(applianceRepositories)
    .innerJoin(repositories, eq(repositories.id, applianceRepositories.repositoryId))
    .where(eq(applianceRepositories.applianceId, applianceId))
    .orderBy(asc(applianceRepositories.position));
  return rows.map(({ repository }) => repository);
}

export const findBaseSystem = (db: Database, name: string) =>
  db.query.baseSystems.findFirst({ where: eq(baseSystems.name, name) });

export const listBaseSystems = (db: Database) => db.query.baseSystems.findMany({ orderBy: asc(baseSystems.name) });

/** Writes the clone and copies its source's repositories, selection, overlay files and keys, in one batch. */
export async function saveClone(db: Database, clone: NewAppliance, sourceId: number): Promise<Appliance> {
  const cloneId = sql`(SELECT id FROM appliances WHERE uuid = ${clone.uuid})`;
  // drizzle cannot bind a bare statement inside a batch, so the copies are inserts of every column in its order.
  const [added] = await db.batch([
    db.insert(appliances).values(clone).returning(),
    db
      .insert(applianceRepositories)
      .select(
        sql`SELECT ${cloneId}, repository_id, position FROM appliance_repositories WHERE appliance_id = ${sourceId}`,
      ),
    db.insert(selections).select(
      sql`SELECT NULL, ${cloneId}, kind, name, version, repository_id FROM selections
          WHERE appliance_id = ${sourceId} ORDER BY id`,
    ),
    db.insert(overlayFiles).select(
      sql`SELECT NULL, ${cloneId}, file_name, path, owner, group_name, permissions, enabled, size, md5, sha256, blob_id, created_at
          FROM overlay_files WHERE appliance_id = ${sourceId} ORDER BY id`,
    ),
    db.insert(gpgKeys).select(
      sql`SELECT NULL, ${cloneId}, name, target, fingerprint, key, created_at FROM gpg_keys
          WHERE appliance_id = ${sourceId} ORDER BY id`,
    ),
  ]);
  const [appliance] = added;
  if (!appliance) throw new Error(`clone of appliance ${sourceId} was not written`);
  return appliance;
}

/** Removes an appliance with all rows that hang on it; its blobs are the sweeper's. */
export async function deleteApplianceRows(db: Database, applianceId: number): Promise<void> {
  await db.batch([
    db.delete(selections).where(eq(selections.applianceId, applianceId)),
    db.delete(overlayFiles).where(eq(overlayFiles.applianceId, applianceId)),
    db.delete(gpgKeys).where(eq(gpgKeys.applianceId, applianceId)),
    db.delete(applianceRepositories).where(eq(applianceRepositories.applianceId, applianceId)),
    db.delete(builds).where(eq(builds.applianceId, applianceId)),
    db.delete(appliances).where(eq(appliances.id, applianceId)),
  ]);
}
