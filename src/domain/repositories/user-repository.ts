import { createHash } from "node:crypto";
import { Arch, type FrozenInput, type PackageType } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { requestNewImports } from "#domain/repositories/turns";
import { type DebFacts, type PackageFacts, packageTypeOf, readHeaders, type RpmFacts } from "#domain/rpms/headers";
import { packageTypeOfBase } from "#model/catalogue";
import { findBaseSystem } from "#storage/appliances";
import { archivedPackageKey, uploadKey } from "#storage/blobs";
import { isFrozenFor } from "#storage/frozen-blobs";
import { listRpms, type Rpm } from "#storage/rpms";
import {
  findPublished,
  findUserRepositoryById,
  findUserRepositoryByUid,
  putIndexFile,
  removeOldIndexFiles,
  saveUserRepository,
  type UserRepository,
} from "#storage/user-repositories";
import { uploadsOrigin } from "#lib/kiwi/machine-repository";
import { hexDigest } from "#lib/repodata/checksum";
import { writeDebIndex } from "#lib/repodata/deb-index";
import { type RepositoryFile, writeRpmMd } from "#lib/repodata/rpm-md";

/** How long the lists of an old index are kept for clients that are reading it. */
const readersMs = 60 * 60_000;

/** How long an upload waits for its import. After that, the import continues in the background. */
const importWaitMs = 30_000;
const lookEveryMs = 100;

/**
 * Publishes the account's uploads in its user repository for a base system, and waits for the import. From then on,
 * they can be resolved.
 */
export async function publishUploads(
  { env, db }: Services,
  { account, baseSystem }: { account: { id: number; username: string }; baseSystem: string },
): Promise<void> {
  const facts = (await findBaseSystem(db, baseSystem))?.facts;
  const repository = await saveUserRepository(db, {
    accountId: account.id,
    baseSystem,
    name: `${account.username} ${facts?.title ?? baseSystem}`,
    arches: [...Arch.options],
    type: facts && packageTypeOfBase(facts) === "deb" ? "deb" : "rpm-md",
  });
  await publishUserRepository(env, repository);
  await waitUntilImported({ env, db }, repository.id);
}

/** Waits until an import shows what was published. An import that began earlier may end first, but does not count. */
async function waitUntilImported({ env, db }: Services, id: number): Promise<void> {
  for (const deadline = Date.now() + importWaitMs; Date.now() < deadline;) {
    const repository = await findUserRepositoryById(db, id);
    if (!repository) return;
    const { revision, importState, problem } = repository;
    if (importState !== "importing" && problem !== null) return;
    if (importState === "ready" && revision === (await findPublished(env.BLOBS, repository))?.sha256) return;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/**
 * Updates the index to match the uploads. The repository's object writes it, one write at a time, and all waiting
 * requests share a write.
 */
export const publishUserRepository = (env: Pick<Env, "USER_REPOSITORIES">, { uid }: Pick<UserRepository, "uid">) =>
  env.USER_REPOSITORIES.getByName(uid).publish();

/** Called by that object. Writes the index from the headers of the uploads, and requests its import. */
export async function writeUserRepository({ env, db }: Services, uid: string): Promise<void> {
  const repository = await findUserRepositoryByUid(db, uid);
  if (!repository) return;
  await writeIndex(env, repository, await listRpms(db, repository.accountId, repository.baseSystem));
  await requestNewImports({ env, db }, [repository.id]);
}

/** A digest of the uploads that an index is generated from. */
export const stateOf = (uploads: readonly Rpm[]): string =>
  createHash("sha256")
    .update(JSON.stringify(uploads.map(({ id, blobId }) => [id, blobId])))
    .digest("hex");

async function writeIndex(env: Env, { uid, type }: UserRepository, uploads: Rpm[]): Promise<void> {
  const now = new Date();
  const files = await (type === "deb" ? writeDebs : writeRpms)(env, uploads, secondsOf(now));
  const state = stateOf(uploads);
  for (const { path, bytes } of files) {
    await putIndexFile(env.BLOBS, uid, { path, bytes, state, sha256: hexDigest("sha256", bytes) });
  }
  const before = new Date(now.getTime() - readersMs);
  await removeOldIndexFiles(env.BLOBS, uid, { keep: files.map(({ path }) => path), before });
}

const secondsOf = (date: Date) => Math.floor(date.getTime() / 1000);

function writeRpms(env: Env, uploads: Rpm[], writtenAt: number): Promise<RepositoryFile[]> {
  const winners = newest(uploads, "rpm");
  return writeRpmMd(chosen(packagesOf(env, uploads, winners), isRpm), winners.size, writtenAt);
}

const writeDebs = (env: Env, uploads: Rpm[], writtenAt: number): Promise<RepositoryFile[]> =>
  writeDebIndex(chosen(packagesOf(env, uploads, newest(uploads, "deb")), isDeb), { origin: uploadsOrigin, writtenAt });

const isRpm = (one: UploadedPackage): one is UploadedPackage & RpmFacts => "header" in one;
const isDeb = (one: UploadedPackage): one is UploadedPackage & DebFacts => "deb" in one;

async function* chosen<T extends UploadedPackage>(
  packages: AsyncIterable<UploadedPackage>,
  isWanted: (one: UploadedPackage) => one is T,
): AsyncGenerator<T> {
  for await (const one of packages) if (isWanted(one)) yield one;
}

/** The latest upload of each package of this type, as "upload/number". */
function newest(uploads: readonly Rpm[], type: PackageType): Set<string> {
  const byAge = uploads.toSorted((a, b) => a.uploadedAt.getTime() - b.uploadedAt.getTime() || a.id - b.id);
  const latest = new Map<string, string>();
  for (const { blobId, packages } of byAge) {
    for (const [number, one] of packages.entries()) {
      if (packageTypeOf(one) === type) latest.set(one.nevra, `${blobId}/${number}`);
    }
  }
  return new Set(latest.values());
}

/** A package with its location in the repository, and the time of its upload in seconds since 1970. */
type UploadedPackage = PackageFacts & { location: string; fileTime: number };

async function* packagesOf(env: Env, uploads: Rpm[], winners: Set<string>): AsyncGenerator<UploadedPackage> {
  for (const { blobId, packages, uploadedAt } of uploads) {
    let number = 0;
    for await (const facts of readHeaders(env.BLOBS, blobId)) {
      const fileName = packages[number]?.fileName ?? "";
      const location = `packages/${blobId}/${number}/${fileName}`;
      if (winners.has(`${blobId}/${number}`)) yield { ...facts, location, fileTime: secondsOf(uploadedAt) };
      number += 1;
    }
  }
}

const packageLocation = /^packages\/([0-9a-f-]{36})\/(\d{1,6})\/[^/]+$/;

/** The upload that contains the package at a location in a user repository. */
export function uploadedPackageIn(location: string): { blobId: string; number: number } | undefined {
  const [, blobId, number] = packageLocation.exec(location) ?? [];
  return blobId === undefined ? undefined : { blobId, number: Number(number) };
}

/** The blobs of uploads that a build needs, from the locations of their packages. */
export function uploadsIn({ repositories, packages }: Pick<FrozenInput, "repositories" | "packages">): string[] {
  const own = new Set(repositories.filter(({ url }) => url.startsWith("service:/user/")).map(({ alias }) => alias));
  const theirs = packages.filter(({ repository }) => own.has(repository));
  return [...new Set(theirs.flatMap(({ location }) => uploadedPackageIn(location)?.blobId ?? []))];
}

/**
 * The key in R2 of an uploaded package that a running build was frozen with. Undefined if the build was frozen without
 * it.
 */
export async function frozenPackageKey(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { buildId, blobId, number }: { buildId: number; blobId: string; number: number },
): Promise<string | undefined> {
  return (await isFrozenFor(db, buildId, blobId)) ? await uploadedPackageKey(env, { blobId, number }) : undefined;
}

/**
 * The key of a package in an upload that the caller may read. The upload may have been deleted or replaced since, so
 * only R2 shows whether it was an archive.
 */
export async function uploadedPackageKey(
  env: Pick<Env, "BLOBS">,
  { blobId, number }: { blobId: string; number: number },
): Promise<string | undefined> {
  const archived = archivedPackageKey(blobId, number);
  if (await env.BLOBS.head(archived)) return archived;
  return number === 0 ? uploadKey(blobId) : undefined;
}
