import type { Services } from "#domain/services";
import type { KnownBaseSystem } from "#domain/repositories/base-system";
import { spendPackages } from "#domain/accounts/rates";
import { type ImportLimits, limitsFor, refuseMore } from "#domain/repositories/import-limits";
import { saveNameIndex } from "#domain/repositories/name-indexes";
import { importPackages, type PackageSource } from "#domain/repositories/packages";
import { RepodataFault } from "#lib/repodata/fault";
import type { Download, OpenedRepository } from "#lib/repodata/opened-repository";
import { nameIndexKeyOfPart, solvPrefixOf } from "#storage/blobs";
import type { Database } from "#storage/db";
import {
  beginContents,
  type Contents,
  findImport,
  findMadeImport,
  finishContents,
  type MadeImport,
  releaseImport,
} from "#storage/imports";
import { saveNamePages } from "#storage/name-pages";
import type { Repository } from "#storage/repositories";

/** A repository whose files have been downloaded. */
interface Fetched {
  repository: Repository;
  opened: OpenedRepository;
  download: Download;
  candidates: readonly KnownBaseSystem[];
  onProgress: PackageSource["onProgress"];
}

/**
 * The contents of a repository. They are read once for each URL and checksum of the index, and shared by all
 * repositories with the same two.
 *
 * Before this, each repository has downloaded the files, and checked them and its signature. So an account sees only
 * what it could have fetched itself, and only the keys that it trusts count. A first import takes as long as if it were
 * the only one, so that the time does not reveal whether another account has the same URL.
 */
export async function contentsOf({ env, db }: Services, fetched: Fetched): Promise<MadeImport> {
  const { repository, opened } = fetched;
  const contents = { url: sourceOf(repository, opened), revision: opened.revision };
  const limits = await limitsFor({ env, db }, repository);
  const known = await findMadeImport(db, contents);
  if (!known)
    return (await make({ env, db }, { ...fetched, contents, limits })) ?? (await contentsOf({ env, db }, fetched));
  refuseMore({ packages: known.packageCount, bytes: known.bytes }, limits);
  if (repository.revision === null) await new Promise((resolve) => setTimeout(resolve, known.workMs));
  return known;
}

/**
 * Whether the repository shows what is in this index. If its catalogue names other architectures now, it does not, even
 * if the index is the same.
 */
export async function isUpToDate(db: Database, repository: Repository, opened: OpenedRepository): Promise<boolean> {
  if (opened.revision !== repository.revision) return false;
  const source = sourceOf(repository, opened);
  if (source === repository.url || repository.importId === null) return true;
  return (await findImport(db, repository.importId))?.url === source;
}

/**
 * The URL and whatever else identifies the lists: the index of a Debian repository is the same for all architectures,
 * but the lists differ.
 */
const sourceOf = ({ url, arches, catalogue }: Repository, { type }: OpenedRepository) =>
  type === "deb" && catalogue !== null ? `${url} [${arches.join()}]` : url;

/** Undefined if another import of the same contents finished first. The sweep removes what a crash leaves behind. */
async function make(
  { env, db }: Services,
  { repository, contents, ...source }: Fetched & { contents: Contents; limits: ImportLimits },
): Promise<MadeImport | undefined> {
  const importId = crypto.randomUUID();
  const onProgress = counting({ env, db }, repository, source.onProgress);
  await beginContents(db, importId, contents);
  let made: MadeImport | undefined;
  try {
    const begunAt = Date.now();
    const found = await importPackages(
      { env, db },
      {
        ...source,
        onProgress,
        repositoryId: repository.id,
        importId,
      },
    );
    await saveNamePages(db, importId);
    await saveNameIndex({ env, db }, { repositoryId: repository.id, importId });
    const facts = { ...found, baseSystem: found.baseSystem ?? null, workMs: Date.now() - begunAt };
    made = await finishContents(db, importId, facts);
  } finally {
    if (!made) await remove({ env, db }, { repository, importId });
  }
  return made;
}

const overBudget = (most: number) =>
  new RepodataFault(
    "too_large",
    `your account has reached its limit of ${most} imported packages a day; try again tomorrow`,
  );

/** Counts the packages of each part towards the account's daily limit for imports. */
function counting(
  { env, db }: Services,
  { accountId }: Repository,
  onProgress: PackageSource["onProgress"],
): PackageSource["onProgress"] {
  if (accountId === null) return onProgress;
  let counted = 0;
  return async (progress) => {
    const most = await spendPackages({ env, db }, accountId, progress.packages - counted);
    if (most !== undefined) throw overBudget(most);
    counted = progress.packages;
    await onProgress(progress);
  };
}

async function remove(
  { env, db }: Services,
  { repository, importId }: { repository: Repository; importId: string },
): Promise<void> {
  await releaseImport(db, importId);
  const { objects } = await env.BLOBS.list({ prefix: solvPrefixOf(repository.id, importId) });
  if (objects.length > 0) await env.BLOBS.delete(objects.map(({ key }) => key));
}

/**
 * Removes contents that were read for a repository that shows other contents now, unless another repository shows them.
 */
export async function removeUnshown({ env, db }: Services, { id, parts }: MadeImport): Promise<void> {
  const [part] = parts;
  if ((await releaseImport(db, id)) && part !== undefined) {
    await env.BLOBS.delete([...parts, nameIndexKeyOfPart(part)]);
  }
}
