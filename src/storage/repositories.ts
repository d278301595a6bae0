import { and, asc, eq, getTableColumns, inArray, isNotNull, isNull, or, sql, type SQL } from "drizzle-orm";
import { fromJson, type Database } from "./db.ts";
import { edited } from "./edits.ts";
import { insertFrom } from "./inserts.ts";
import { counts } from "./limits.ts";
import { accounts, applianceRepositories, appliances, repositories } from "./schema.ts";

export type StoredRepository = typeof repositories.$inferSelect;
/** A repository without its signing keys, which are long, and which only imports and frozen builds need. */
export type Repository = Omit<StoredRepository, "signingKeys">;
export type NewRepository = typeof repositories.$inferInsert;

const { signingKeys, ...withoutKeys } = getTableColumns(repositories);
/** The columns of a `Repository`. */
export const repositoryColumns = withoutKeys;

/** A repository's name in KIWI and in the solver. */
export const aliasOf = (repositoryId: number): string => `repo-${repositoryId}`;

export const findRepository = (db: Database, id: number): Promise<StoredRepository | undefined> =>
  db.query.repositories.findFirst({ where: eq(repositories.id, id) });

/** The repositories as they are stored now, in the given order. Those that no longer exist are left out. */
export async function rereadRepositories(
  db: Database,
  known: readonly Pick<Repository, "id">[],
): Promise<StoredRepository[]> {
  const ids = known.map(({ id }) => id);
  const rows = await db.query.repositories.findMany({ where: inArray(repositories.id, fromJson(ids)) });
  return rows.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}

/** Adds the signing keys to repositories. Deleted repositories have none. */
export async function withSigningKeys<One extends Pick<Repository, "id">>(
  db: Database,
  known: readonly One[],
): Promise<(One & Pick<StoredRepository, "signingKeys">)[]> {
  const ids = fromJson(known.map(({ id }) => id));
  const rows = await db
    .select({ id: repositories.id, signingKeys })
    .from(repositories)
    .where(inArray(repositories.id, ids));
  const keys = new Map(rows.map((row) => [row.id, row.signingKeys]));
  return known.map((one) => ({ ...one, signingKeys: keys.get(one.id) ?? null }));
}

/** A repository that the account may see: everyone's, or its own. */
export const findVisibleRepository = (
  db: Database,
  accountId: number,
  id: number,
): Promise<StoredRepository | undefined> =>
  db.query.repositories.findFirst({ where: and(eq(repositories.id, id), visibleTo(accountId)) });

export const findVisibleRepositoryByUrl = (db: Database, accountId: number, url: string) =>
  db.query.repositories.findFirst({ where: and(eq(repositories.url, url), visibleTo(accountId)) });

/** The repositories with these ids that the account may see. */
export const listVisibleByIds = (db: Database, accountId: number, ids: number[]): Promise<StoredRepository[]> =>
  db.query.repositories.findMany({ where: and(inArray(repositories.id, fromJson(ids)), visibleTo(accountId)) });

/** All repositories that the account may see: everyone's and its own. */
export const listVisibleRepositories = (
  db: Database,
  accountId: number,
  { baseSystem }: { baseSystem?: string | undefined } = {},
): Promise<StoredRepository[]> =>
  db.query.repositories.findMany({
    where: and(visibleTo(accountId), baseSystem === undefined ? undefined : eq(repositories.baseSystem, baseSystem)),
    orderBy: asc(repositories.id),
  });

/** Repositories of accounts whose last check failed, each with the name of its account. */
export const listFailing = (db: Database, limit: number): Promise<(StoredRepository & { username: string })[]> =>
  db
    .select({ ...getTableColumns(repositories), username: accounts.username })
    .from(repositories)
    .innerJoin(accounts, eq(accounts.id, repositories.accountId))
    .where(isNotNull(repositories.problem))
    .orderBy(asc(repositories.id))
    .limit(limit);

/** The repository made from the account's uploads for a base system. */
export const findUserRepository = (
  db: Database,
  accountId: number,
  baseSystem: string,
): Promise<StoredRepository | undefined> =>
  db.query.repositories.findFirst({
    where: and(
      eq(repositories.accountId, accountId),
      eq(repositories.baseSystem, baseSystem),
      eq(repositories.isUserRepository, true),
    ),
  });

/** The repository that was created by a request. */
export const findRepositoryByUid = (db: Database, uid: string): Promise<StoredRepository | undefined> =>
  db.query.repositories.findFirst({ where: eq(repositories.uid, uid) });

/** Undefined if the account, or everyone, already has this URL, or if the account has reached its limit. */
export async function addRepository(
  db: Database,
  row: NewRepository,
  most = Number.MAX_SAFE_INTEGER,
): Promise<StoredRepository | undefined> {
  const { uid = crypto.randomUUID() } = row;
  const isTooMany = sql`${counts.repositories(row.accountId ?? 0)} > ${most}`;
  const [[added], refused] = await db.batch([
    db
      .insert(repositories)
      .values({ ...row, uid })
      .onConflictDoNothing()
      .returning(),
    db
      .delete(repositories)
      .where(and(eq(repositories.uid, uid), isTooMany))
      .returning({ id: repositories.id }),
  ]);
  return refused.length > 0 ? undefined : added;
}

/** Removes a repository that never had a good import, unless an appliance uses it. */
export async function removeUnimported(db: Database, id: number): Promise<void> {
  await db
    .delete(repositories)
    .where(
      and(
        eq(repositories.id, id),
        isNull(repositories.revision),
        isNull(repositories.catalogue),
        sql`NOT EXISTS (SELECT 1 FROM appliance_repositories WHERE repository_id = ${id})`,
      ),
    );
}

/** Removes an account's repositories whose first import failed; no list shows them. Returns their number. */
export async function removeFailed(db: Database, accountId: number): Promise<number> {
  const gone = await db
    .delete(repositories)
    .where(
      and(
        eq(repositories.accountId, accountId),
        eq(repositories.importState, "failed"),
        eq(repositories.isUserRepository, false),
        isNull(repositories.revision),
        sql`NOT EXISTS (SELECT 1 FROM appliance_repositories WHERE repository_id = repositories.id)`,
      ),
    )
    .returning({ id: repositories.id });
  return gone.length;
}

/** Removes a repository of the account, unless an appliance of any account uses it. Returns the removed row. */
export async function deleteRepository(
  db: Database,
  accountId: number,
  id: number,
): Promise<StoredRepository | undefined> {
  const isUsed = sql`SELECT 1 FROM appliance_repositories WHERE repository_id = ${id}`;
  const [gone] = await db
    .delete(repositories)
    .where(and(eq(repositories.id, id), eq(repositories.accountId, accountId), sql`NOT EXISTS (${isUsed})`))
    .returning();
  return gone;
}

/** The first few appliances that use a repository. */
export const listUsersOf = (db: Database, repositoryId: number, limit: number) =>
  db
    .select({ id: appliances.id, name: appliances.name, accountId: appliances.accountId })
    .from(applianceRepositories)
    .innerJoin(appliances, eq(appliances.id, applianceRepositories.applianceId))
    .where(eq(applianceRepositories.repositoryId, repositoryId))
    .orderBy(asc(appliances.id))
    .limit(limit);

/** Repositories of these catalogues that were never imported. */
export const listUnimported = (db: Database, catalogues: string[]): Promise<StoredRepository[]> =>
  db.query.repositories.findMany({
    where: and(inArray(repositories.catalogue, fromJson(catalogues)), isNull(repositories.revision)),
    orderBy: asc(repositories.id),
  });

export const listByCatalogue = (db: Database, catalogue: string): Promise<StoredRepository[]> =>
  db.query.repositories.findMany({ where: eq(repositories.catalogue, catalogue), orderBy: asc(repositories.id) });

/**
 * Repositories on other servers that have not been checked since that moment, starting with the oldest check. Those
 * whose import waits are left out, so that an account with slow mirrors does not take the places of others.
 */
export function listUncheckedSince(db: Database, before: Date, limit: number): Promise<StoredRepository[]> {
  // Not OR, because SQLite would then read the whole index.
  const due = sql`${checked(sql`IS NULL`)} UNION ALL ${checked(sql`< ${before.getTime()}`)} ORDER BY 2 LIMIT ${limit}`;
  return db.query.repositories.findMany({
    where: sql`${repositories.id} IN (SELECT id FROM (${due}))`,
    orderBy: asc(repositories.checkedAt),
  });
}

const checked = (when: SQL) =>
  sql`SELECT id, checked_at FROM repositories WHERE url NOT LIKE 'service:%' AND checked_at ${when}
    AND NOT EXISTS (SELECT 1 FROM import_turns WHERE repository_id = repositories.id)`;

/** Repositories of catalogues whose files are in the service's own R2. */
export const listOwnFiles = (db: Database): Promise<StoredRepository[]> =>
  db.query.repositories.findMany({
    where: sql`${repositories.url} >= 'service:/repositories/' AND ${repositories.url} < 'service:/repositories0'`,
  });

/** Marks that imports were requested. */
export async function markImporting(db: Database, ids: number[]): Promise<void> {
  await db
    .update(repositories)
    .set({ importState: "importing" })
    .where(inArray(repositories.id, fromJson(ids)));
}

/** Replaces an appliance's list of repositories, in one batch, with the given ids in their order. */
export async function replaceApplianceRepositories(db: Database, applianceId: number, ids: number[]): Promise<void> {
  await db.batch([
    db.delete(applianceRepositories).where(eq(applianceRepositories.applianceId, applianceId)),
    // The positions are the keys of the JSON array. A repository that was deleted in the meantime is omitted.
    insertFrom(
      db,
      applianceRepositories,
      { applianceId, repositoryId: sql`value`, position: sql`key` },
      sql`FROM json_each(${JSON.stringify(ids)}) WHERE value IN (SELECT id FROM repositories)`,
    ),
    edited(db, applianceId),
  ]);
}

/** Adds a repository to the end of an appliance's list. If it is already in the list, it keeps its place. */
export async function addApplianceRepository(db: Database, applianceId: number, repositoryId: number): Promise<void> {
  await db.batch([
    insertFrom(
      db,
      applianceRepositories,
      { applianceId, repositoryId, position: sql`coalesce(max(position) + 1, 0)` },
      sql`FROM appliance_repositories WHERE appliance_id = ${applianceId}
          HAVING EXISTS (SELECT 1 FROM repositories WHERE id = ${repositoryId})`,
    ).onConflictDoNothing(),
    edited(db, applianceId),
  ]);
}

export async function removeApplianceRepository(
  db: Database,
  applianceId: number,
  repositoryId: number,
): Promise<void> {
  await db.batch([
    db
      .delete(applianceRepositories)
      .where(
        and(eq(applianceRepositories.applianceId, applianceId), eq(applianceRepositories.repositoryId, repositoryId)),
      ),
    edited(db, applianceId),
  ]);
}

/** The condition for repositories that an account may see: everyone's, and its own. */
export const visibleTo = (accountId: number) =>
  or(isNull(repositories.accountId), eq(repositories.accountId, accountId));
