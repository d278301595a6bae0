import { and, asc, eq, gt, like, ne, sql } from "drizzle-orm";
import { userRepositoryFileKey } from "./blobs.ts";
import type { Database } from "./db.ts";
import type { NewRepository, StoredRepository } from "./repositories.ts";
import { repositories } from "./schema.ts";

/** A repository made from one account's uploads for a base system. */
export type UserRepository = StoredRepository & { accountId: number };

const isUserRepository = (one: StoredRepository): one is UserRepository =>
  one.isUserRepository && one.accountId !== null;
const unfinishedUrl = "service:/user/new-";

/** A user repository before its first upload. */
type Described = Pick<UserRepository, "accountId" | "baseSystem" | "name" | "arches"> & { type: "rpm-md" | "deb" };

/** The account's user repository for the base system; creates it if necessary. Its URL contains its own id. */
export async function saveUserRepository(db: Database, row: Described): Promise<UserRepository> {
  const { accountId, baseSystem, type } = row;
  const [, , , [saved]] = await db.batch([
    db.insert(repositories).values(newRepository(row)).onConflictDoNothing(),
    db
      .update(repositories)
      .set({ url: sql`'service:/user/' || id` })
      .where(and(eq(repositories.accountId, accountId), like(repositories.url, `${unfinishedUrl}%`))),
    // Older versions created a repository of RPMs for every base system.
    db
      .update(repositories)
      .set({ type })
      .where(and(ofAccount(accountId, baseSystem), ne(repositories.type, type))),
    db.select().from(repositories).where(ofAccount(accountId, baseSystem)),
  ]);
  if (!saved || !isUserRepository(saved)) throw new Error(`no user repository of account ${accountId}`);
  return saved;
}

export async function findUserRepositoryById(db: Database, id: number): Promise<UserRepository | undefined> {
  const found = await db.query.repositories.findFirst({ where: eq(repositories.id, id) });
  return found && isUserRepository(found) ? found : undefined;
}

/** A user repository by its uid, which is the name of the object that writes its index. */
export async function findUserRepositoryByUid(db: Database, uid: string): Promise<UserRepository | undefined> {
  const found = await db.query.repositories.findFirst({ where: eq(repositories.uid, uid) });
  return found && isUserRepository(found) ? found : undefined;
}

/** The next user repositories after an id. */
export async function listUserRepositoriesAfter(db: Database, id: number, limit: number): Promise<UserRepository[]> {
  const found = await db.query.repositories.findMany({
    // A literal, as in the partial index: SQLite does not use such an index for a bound parameter.
    where: and(gt(repositories.id, id), sql`is_user_repository = 1`),
    orderBy: asc(repositories.id),
    limit,
  });
  return found.filter(isUserRepository);
}

const newRepository = (row: Described): NewRepository => ({
  ...row,
  url: `${unfinishedUrl}${crypto.randomUUID()}`,
  isUserRepository: true,
});

const ofAccount = (accountId: number, baseSystem: string) =>
  and(
    eq(repositories.accountId, accountId),
    eq(repositories.baseSystem, baseSystem),
    eq(repositories.isUserRepository, true),
  );

/** Stores an index file. `state` identifies the uploads that it was made from. */
export async function putIndexFile(
  blobs: R2Bucket,
  uid: string,
  file: { path: string; bytes: Uint8Array; sha256: string; state: string },
): Promise<void> {
  const { path, bytes, sha256, state } = file;
  await blobs.put(userRepositoryFileKey(uid, path), bytes, { sha256, customMetadata: { state } });
}

/** The path of a user repository's index file. It is written last and read first. */
export const userIndexPath = (type: StoredRepository["type"]): string =>
  type === "deb" ? "Release" : "repodata/repomd.xml";

/** The state of the uploads in the published index, and the index's SHA-256. Undefined if no index is published. */
export async function findPublished(
  blobs: R2Bucket,
  { uid, type }: Pick<StoredRepository, "uid" | "type">,
): Promise<{ state: string | undefined; sha256: string | undefined } | undefined> {
  const head = await blobs.head(userRepositoryFileKey(uid, userIndexPath(type)));
  return head ? { state: head.customMetadata?.state, sha256: head.checksums.toJSON().sha256 } : undefined;
}

/** Removes index files that are outdated and so old that no client can still be reading them. */
export async function removeOldIndexFiles(
  blobs: R2Bucket,
  uid: string,
  { keep, before }: { keep: string[]; before: Date },
): Promise<void> {
  const kept = new Set(keep.map((path) => userRepositoryFileKey(uid, path)));
  const { objects } = await blobs.list({ prefix: userRepositoryFileKey(uid, "") });
  const old = objects.filter(({ key, uploaded }) => !kept.has(key) && uploaded < before).map(({ key }) => key);
  if (old.length > 0) await blobs.delete(old);
}
