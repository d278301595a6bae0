import { diskIsFull, hasFullDisk } from "#domain/full-disk";
import type { Services } from "#domain/services";
import { baseSystemByIndex, type KnownBaseSystem, otherBaseSystem } from "#domain/repositories/base-system";
import {
  DownloadFailed,
  DownloadTookTooLong,
  type Fetch,
  outsideFetch,
  ownIndexTag,
  rulesFor,
  sourceOf,
} from "#domain/repositories/download";
import { contentsOf, isUpToDate, removeUnshown } from "#domain/repositories/contents";
import { ImportTookTooLong } from "#domain/repositories/packages";
import { stageParts } from "#domain/repositories/staging";
import type { FrozenKey } from "#lib/contract/index";
import { parseAptAddress } from "#lib/repodata/apt-address";
import { packageTypeOfBase, packageTypeOfRepository } from "#model/catalogue";
import type { ImportProgress } from "#model/import-progress";
import type { DebRequest } from "#lib/repodata/deb";
import { RepodataFault } from "#lib/repodata/fault";
import type { Download, OpenedRepository } from "#lib/repodata/opened-repository";
import { openRepository, partsOf } from "#lib/repodata/repository";
import { isSameSigner } from "#lib/repodata/signature";
import { DecompressionRefused } from "#lib/solver/decoder";
import { UnreadableMetadata } from "#lib/solver/repository";
import { listBaseSystems } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listKeysOfAccount } from "#storage/gpg-keys";
import { releaseImport } from "#storage/imports";
import { beginImport, confirmRevision, failImport, noteProgress, switchRevision } from "#storage/import-states";
import { findRepository, type StoredRepository, type Repository } from "#storage/repositories";

interface Import {
  env: Env;
  db: Database;
  /** The repository as it was when the import began. */
  repository: StoredRepository;
  importId: string;
  /** R2's etag of the index when the import began. */
  indexTag: string | null;
  fetchOutside: Fetch;
  /** Aborts the downloads. */
  signal: AbortSignal;
}

/**
 * How long all downloads of an import may take together. If a quick import cannot finish, a patient one does the work,
 * so that many slow mirrors do not block the queue.
 */
const downloadMs = { quick: 10_000, patient: 300_000 };
export type Patience = keyof typeof downloadMs;

/**
 * Checks a repository, and imports it if it has changed. A problem with the repository is stored in its row, and the
 * last good revision stays. A thrown error is a fault of this service.
 *
 * Blobs and rows of packages are written first, under the import's own id. Then a single UPDATE shows them. Two
 * simultaneous imports do not affect each other: the one that began last is shown.
 *
 * `too_slow`: the mirror is too slow for a quick import, and a patient one must do it.
 */
export async function importRepository(
  { env, db }: Services,
  repositoryId: number,
  { fetchOutside, patience = "patient" }: { fetchOutside?: Fetch; patience?: Patience } = {},
): Promise<"ended" | "too_slow"> {
  const importId = crypto.randomUUID();
  const repository = await beginImport(db, repositoryId, { checkId: importId, startedAt: new Date() });
  if (!repository) return "ended";
  if (await hasFullDisk(env)) {
    const { indexTag } = repository;
    await failImport(db, repositoryId, { checkId: importId, problem: diskIsFull().message, indexTag });
    return "ended";
  }
  const indexTag = (await ownIndexTag(env, repository)) ?? null;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow(patience)), downloadMs[patience]);
  try {
    const reach = { fetchOutside: fetchOutside ?? outsideFetch(rulesFor(env, repository)), signal: late.signal };
    await checkAndImport({ env, db, repository, importId, indexTag, ...reach });
  } catch (error) {
    if (patience === "quick" && error instanceof DownloadTookTooLong) return "too_slow";
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    await failImport(db, repositoryId, { checkId: importId, problem, indexTag });
  } finally {
    clearTimeout(timer);
  }
  return "ended";
}

const tooSlow = (patience: Patience) =>
  new DownloadTookTooLong(`The mirror took longer than ${downloadMs[patience] / 1000} s to send its files.`);

/** Records in the row, after the last try, that the service could not do the import. */
export async function giveUpImport(db: Database, repositoryId: number, problem: string): Promise<void> {
  const repository = await findRepository(db, repositoryId);
  if (!repository?.checkId || repository.importState !== "importing") return;
  await failImport(db, repositoryId, { checkId: repository.checkId, problem, indexTag: repository.indexTag });
}

async function checkAndImport(work: Import): Promise<void> {
  const { env, db, repository, importId, indexTag } = work;
  const source = sourceOf(env, repository, work);
  const deb = { ...debRequestOf(repository), ownersKeys: await ownersKeys(db, repository) };
  const opened = await openRepository(source.download, deb);
  refuseOtherType(repository, opened);
  refuseGivenKeys(repository, opened);
  // Given keys may alternate, because each of them proves the signer.
  if (deb.keys.length === 0 && !isSameSigner(repository.signer ?? undefined, opened.signer)) {
    throw new RepodataFault("bad_signature", "the repository is not signed by the key that signed it before");
  }
  if (await isUpToDate(db, repository, opened)) {
    await confirmRevision(db, repository.id, { checkId: importId, indexTag, ...signature(opened) });
    return;
  }
  await using staged = await stageParts(env, importId, { source, parts: partsOf(opened) });
  await show(work, opened, staged.download);
}

/**
 * The facts about a Debian repository that are known before its index is read. The architectures of accounts'
 * repositories come from their packages.
 */
function debRequestOf(repository: StoredRepository): Omit<DebRequest, "ownersKeys"> {
  const { components, only } = parseAptAddress(repository.url);
  return {
    keys: isDebPerhaps(repository) ? (repository.signingKeys ?? []) : [],
    acceptsExpired: repository.acceptsExpired,
    components,
    only,
    arches: repository.catalogue === null ? [] : repository.arches,
  };
}

/** Whether it may be a Debian repository. The type of an account's repository is unknown before its first import. */
const isDebPerhaps = ({ type, catalogue, revision }: StoredRepository) =>
  type === "deb" || (catalogue === null && revision === null);

/** The keys that the account has given to its appliances, if the repository has no signer yet. */
async function ownersKeys(db: Database, repository: StoredRepository): Promise<FrozenKey[]> {
  const { accountId, isUserRepository, signer } = repository;
  if (accountId === null || isUserRepository || signer !== null || !isDebPerhaps(repository)) return [];
  return await listKeysOfAccount(db, accountId, maxOwnersKeys);
}

/** The maximum number of keys. If there are more, only the newest are used. */
const maxOwnersKeys = 50;

/**
 * Refuses keys that were given for a repository of another type. Such repositories have their keys next to their index,
 * so a given key would never be used.
 */
function refuseGivenKeys({ catalogue, revision, signingKeys }: StoredRepository, { type }: OpenedRepository): void {
  if (catalogue !== null || revision !== null || !signingKeys || type === "deb") return;
  throw new RepodataFault(
    "bad_signature",
    "a key can be given only for a Debian repository; others have theirs next to their index",
  );
}

/** Refuses a changed package type, because appliances that use the repository consist of packages of the old type. */
function refuseOtherType(repository: StoredRepository, opened: OpenedRepository): void {
  const { catalogue, revision, isUserRepository } = repository;
  const [before, now] = [packageTypeOfRepository(repository), packageTypeOfRepository(opened)];
  if (before === now || (catalogue === null && revision === null && !isUserRepository)) return;
  throw new RepodataFault("not_a_repository", `it has ${now} packages instead of ${before} packages`);
}

/** Makes the repository show the contents, unless a later import of it has begun. */
async function show(work: Import, opened: OpenedRepository, download: Download): Promise<void> {
  const { env, db, repository, importId, indexTag } = work;
  const known = repository.isUserRepository ? [] : basesOf(opened, await listBaseSystems(db));
  const byIndex = baseSystemByIndex(known, { url: repository.url, distributions: opened.distributions });
  const candidates = byIndex === undefined ? known : [];
  // The catalogue or the owner of the uploads has already decided the base system.
  const isGiven = repository.catalogue !== null || repository.isUserRepository;
  const onProgress = (progress: ImportProgress) => noteProgress(db, repository.id, { checkId: importId, progress });
  for (;;) {
    const made = await contentsOf({ env, db }, { repository, opened, download, candidates, onProgress });
    const isShown = await switchRevision(db, repository.id, importId, {
      ...facts(opened),
      snapshotUrl: snapshotUrl(repository, opened),
      indexTag,
      importId: made.id,
      parts: made.parts,
      packageCount: made.packageCount,
      arches: isGiven ? repository.arches : made.arches,
      baseSystem: isGiven ? repository.baseSystem : (byIndex ?? made.baseSystem ?? otherBaseSystem),
    });
    // The old contents can no longer be found by searches. Only their .solv files may still be in use.
    if (isShown) {
      if (repository.importId !== null) await releaseImport(db, repository.importId);
      return;
    }
    await removeUnshown({ env, db }, made);
    if ((await findRepository(db, repository.id))?.checkId !== importId) return;
    // The contents belonged to another repository, which has released them in the meantime.
  }
}

const basesOf = (opened: OpenedRepository, bases: readonly KnownBaseSystem[]) =>
  bases.filter((one) => packageTypeOfBase(one.facts) === packageTypeOfRepository(opened));

const facts = ({ type, revision, packagesFolder, ...opened }: OpenedRepository) => ({
  type,
  revision,
  ...signature(opened),
  packagesFolder,
});

const signature = ({ signer, keys }: Pick<OpenedRepository, "signer" | "keys">) => ({
  signer: signer?.fingerprint ?? null,
  signingKeys: signer ? keys : null,
});

/** The message for a fault of the repository. Undefined if it is a fault of this service. */
function problemOf(error: unknown): string | undefined {
  const isTheirs = [RepodataFault, UnreadableMetadata, DecompressionRefused, DownloadFailed, ImportTookTooLong].some(
    (kind) => error instanceof kind,
  );
  return isTheirs && error instanceof Error ? error.message.slice(0, 500) : undefined;
}

/**
 * The URL where the packages of this index stay available for a while after the repository has changed. Null if its
 * catalogue defines none.
 */
function snapshotUrl(
  { snapshots }: Pick<Repository, "snapshots">,
  { distributions }: Pick<OpenedRepository, "distributions">,
): string | null {
  if (snapshots === null) return null;
  const pattern = new RegExp(snapshots.cpeId);
  for (const { cpeId = "" } of distributions) {
    const name = pattern.exec(cpeId)?.[1];
    if (name !== undefined && isSafe(name)) return snapshots.url.replaceAll("$snapshot", () => name);
  }
  return null;
}

/** The index comes from a mirror, so this checks that the snapshot's name is a single path segment. */
const isSafe = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
