import { and, asc, eq, inArray, isNull, or, sql, type SQL } from "drizzle-orm";
import type { PackageType } from "#lib/contract/index";
import { fromJson, type Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { type Counted, counts } from "./limits.ts";
import { copiedFile } from "./overlay-files.ts";
import { releaseBlobs } from "./released-blobs.ts";
import { repositoryColumns, visibleTo, type Repository } from "./repositories.ts";
import {
  applianceRepositories,
  appliances,
  baseSystems,
  builds,
  channels,
  comments,
  galleryUses,
  gpgKeys,
  overlayFiles,
  ratings,
  repositories,
  schematics,
  selections,
  shares,
  tokens,
  vexStatements,
  watches,
} from "./schema.ts";

export type Appliance = typeof appliances.$inferSelect;
export type NewAppliance = typeof appliances.$inferInsert;
export type Selection = typeof selections.$inferSelect;
export type BaseSystem = typeof baseSystems.$inferSelect;

/** An appliance of this account. */
export const findAppliance = (db: Database, accountId: number, id: number): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({ where: and(eq(appliances.id, id), eq(appliances.accountId, accountId)) });

export const findAnyAppliance = (db: Database, id: number): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({ where: eq(appliances.id, id) });

export const listAnyAppliances = (db: Database, ids: readonly number[]): Promise<Appliance[]> =>
  db.query.appliances.findMany({ where: inArray(appliances.id, fromJson(ids)) });

/** The appliance that was created by a request. */
export const findApplianceByUuid = (db: Database, uuid: string): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({ where: eq(appliances.uuid, uuid) });

/** An appliance of this account, one that is shared with it, or a template, which everyone may read. */
export const findReadableAppliance = (db: Database, accountId: number, id: number): Promise<Appliance | undefined> =>
  db.query.appliances.findFirst({ where: isReadable(accountId, id) });

const isReadable = (accountId: number, id: number) =>
  and(
    eq(appliances.id, id),
    or(
      eq(appliances.accountId, accountId),
      isNull(appliances.accountId),
      sql`EXISTS (SELECT 1 FROM shares WHERE shares.appliance_id = ${id} AND shares.account_id = ${accountId})`,
    ),
  );

const searched = {
  id: repositories.id,
  name: repositories.name,
  url: repositories.url,
  type: repositories.type,
  importId: repositories.importId,
  parts: repositories.parts,
};

/** The columns of a repository that a search needs. */
export type SearchedRepository = Pick<Repository, keyof typeof searched>;

/** The facts about an appliance that a search needs. */
export interface Searched {
  appliance: Pick<Appliance, "id" | "arch">;
  /** The appliance's base system; null if that is gone. */
  base: string | null;
  packageType: PackageType | null;
  /** The repositories of the appliance, in their order. */
  repositories: SearchedRepository[];
  /** The repositories that the account may see, of any type. */
  visible: SearchedRepository[];
}

/** Reads the facts for a search in one round trip. Undefined if the account may not read the appliance. */
export async function findSearched(db: Database, accountId: number, id: number): Promise<Searched | undefined> {
  const packageType = sql<PackageType | null>`${baseSystems.facts} ->> 'packageType'`;
  const [[found], rows, visible] = await db.batch([
    db
      .select({ appliance: { id: appliances.id, arch: appliances.arch }, base: baseSystems.name, packageType })
      .from(appliances)
      .leftJoin(baseSystems, eq(baseSystems.name, appliances.baseSystem))
      .where(isReadable(accountId, id)),
    db
      .select(searched)
      .from(applianceRepositories)
      .innerJoin(repositories, eq(repositories.id, applianceRepositories.repositoryId))
      .where(eq(applianceRepositories.applianceId, id))
      .orderBy(asc(applianceRepositories.position)),
    db.select(searched).from(repositories).where(visibleTo(accountId)).orderBy(asc(repositories.id)),
  ]);
  return found && { ...found, repositories: rows, visible };
}

export const listSelection = (db: Database, applianceId: number): Promise<Selection[]> =>
  db.query.selections.findMany({ where: eq(selections.applianceId, applianceId), orderBy: asc(selections.id) });

/** The repositories of an appliance, in its order. */
export async function listApplianceRepositories(db: Database, applianceId: number): Promise<Repository[]> {
  const rows = await db
    .select({ repository: repositoryColumns })
    .from(applianceRepositories)
    .innerJoin(repositories, eq(repositories.id, applianceRepositories.repositoryId))
    .where(eq(applianceRepositories.applianceId, applianceId))
    .orderBy(asc(applianceRepositories.position));
  return rows.map(({ repository }) => repository);
}

export const findBaseSystem = (db: Database, name: string) =>
  db.query.baseSystems.findFirst({ where: eq(baseSystems.name, name) });

export const listBaseSystems = (db: Database) => db.query.baseSystems.findMany({ orderBy: asc(baseSystems.name) });

/** The titles of the base systems. */
export const listBaseTitles = (db: Database) =>
  db
    .select({ name: baseSystems.name, title: sql<string>`json_extract(${baseSystems.facts}, '$.title')` })
    .from(baseSystems)
    .orderBy(asc(baseSystems.name));

/** The account's limits for appliances. */
export type ApplianceLimits = Pick<Counted, "appliances" | "configurationBytes" | "files">;

/** The source of a clone: whether it is still there, and the number of its overlay files. */
export interface CloneSource {
  isThere: SQL;
  files: SQL;
}

/** Deletes a clone that exceeds a limit, before anything is copied into it. */
export const deleteRefusedClone = (
  db: Database,
  { uuid, accountId = null }: NewAppliance,
  { source, most }: { source: CloneSource; most: ApplianceLimits },
) =>
  db
    .delete(appliances)
    .where(
      and(
        eq(appliances.uuid, uuid),
        sql`(NOT ${source.isThere} OR ${counts.appliances(accountId ?? 0)} > ${most.appliances}
             OR ${counts.configurationBytes(accountId ?? 0)} > ${most.configurationBytes}
             OR (${source.files} > 0 AND ${counts.files(accountId ?? 0)} + ${source.files} > ${most.files}))`,
      ),
    )
    .returning({ id: appliances.id });

/**
 * Writes the clone and copies its source's selection, overlay files, keys, and those of its repositories that the
 * clone's owner may see, in one batch. Undefined if the source is gone or a limit is reached; then nothing was written.
 */
export async function saveClone(
  db: Database,
  clone: NewAppliance,
  { sourceId, most }: { sourceId: number; most: ApplianceLimits },
): Promise<Appliance | undefined> {
  const source = {
    isThere: sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${sourceId})`,
    files: sql`(SELECT count(*) FROM overlay_files WHERE appliance_id = ${sourceId})`,
  };
  const cloneId = sql`(SELECT id FROM appliances WHERE uuid = ${clone.uuid})`;
  const ofSource = sql`appliance_id = ${sourceId} AND ${cloneId} IS NOT NULL`;
  const [added, refused] = await db.batch([
    db.insert(appliances).values(clone).returning(),
    deleteRefusedClone(db, clone, { source, most }),
    insertFrom(
      db,
      applianceRepositories,
      { applianceId: cloneId, repositoryId: sql`repository_id`, position: sql`position` },
      sql`FROM appliance_repositories JOIN repositories ON repositories.id = repository_id
          WHERE ${ofSource} AND (account_id IS NULL OR account_id = ${clone.accountId ?? null})`,
    ),
    insertFrom(
      db,
      selections,
      { applianceId: cloneId, ...copiedSelection },
      sql`FROM selections WHERE ${ofSource} ORDER BY id`,
    ),
    insertFrom(
      db,
      overlayFiles,
      { applianceId: cloneId, ...copiedFile },
      sql`FROM overlay_files WHERE ${ofSource} ORDER BY id`,
    ),
    insertFrom(db, gpgKeys, { applianceId: cloneId, ...copiedKey }, sql`FROM gpg_keys WHERE ${ofSource} ORDER BY id`),
  ]);
  return refused.length > 0 ? undefined : added[0];
}

const copiedSelection = {
  kind: sql`kind`,
  name: sql`name`,
  version: sql`version`,
  repositoryId: sql`repository_id`,
};

const copiedKey = {
  name: sql`name`,
  target: sql`target`,
  fingerprint: sql`fingerprint`,
  key: sql`key`,
  createdAt: sql`created_at`,
};

/**
 * Removes an appliance with all rows that depend on it, in one batch, and returns its builds. Releases the blobs that
 * the rows named. The sweep deletes the blobs of the builds, and everything that was frozen for them.
 */
export async function deleteApplianceRows(
  db: Database,
  applianceId: number,
): Promise<Pick<typeof builds.$inferSelect, "id" | "uid" | "status">[]> {
  const released = sql`FROM (
      SELECT blob_id FROM overlay_files WHERE appliance_id = ${applianceId}
      UNION SELECT logo_blob FROM appliances WHERE id = ${applianceId}
      UNION SELECT background_blob FROM appliances WHERE id = ${applianceId}
    ) WHERE blob_id IS NOT NULL`;
  const [, gone] = await db.batch([
    releaseBlobs(db, { blobId: sql`blob_id`, from: released }),
    db
      .delete(builds)
      .where(eq(builds.applianceId, applianceId))
      .returning({ id: builds.id, uid: builds.uid, status: builds.status }),
    db.delete(selections).where(eq(selections.applianceId, applianceId)),
    db.delete(overlayFiles).where(eq(overlayFiles.applianceId, applianceId)),
    db.delete(gpgKeys).where(eq(gpgKeys.applianceId, applianceId)),
    db.delete(shares).where(eq(shares.applianceId, applianceId)),
    db.delete(channels).where(eq(channels.applianceId, applianceId)),
    db.delete(watches).where(eq(watches.applianceId, applianceId)),
    db.delete(schematics).where(eq(schematics.applianceId, applianceId)),
    db.delete(vexStatements).where(eq(vexStatements.applianceId, applianceId)),
    db.delete(ratings).where(eq(ratings.applianceId, applianceId)),
    db.delete(comments).where(eq(comments.applianceId, applianceId)),
    db.delete(galleryUses).where(eq(galleryUses.applianceId, applianceId)),
    db.delete(tokens).where(eq(tokens.applianceId, applianceId)),
    db.delete(applianceRepositories).where(eq(applianceRepositories.applianceId, applianceId)),
    db.delete(appliances).where(eq(appliances.id, applianceId)),
  ]);
  return gone;
}
