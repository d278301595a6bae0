import { createHash } from "node:crypto";
import { requestImports } from "#queues/imports";
import { readHeaders } from "#domain/rpm-headers";
import { findBaseSystem } from "#storage/appliances";
import { archivedPackageKey, uploadKey, userRepositoryFileKey } from "#storage/blobs";
import type { Database } from "#storage/db";
import { findRpmByBlob, listRpms, type Rpm } from "#storage/rpms";
import {
  findUserRepositoryById,
  putIndexFile,
  removeOldIndexFiles,
  saveUserRepository,
  type UserRepository,
} from "#storage/user-repositories";
import { hexDigest } from "#repodata/checksum";
import { type RepositoryPackage, writeRpmMd } from "#repodata/rpm-md";

/** Whoever began to read an index must find its lists for so long. */
const readersMs = 60 * 60_000;

/** Makes the account's user repository for a base system say what its uploads are, and has it imported. */
export async function publishUploads(
  env: Env,
  db: Database,
  { account, baseSystem }: { account: { id: number; username: string }; baseSystem: string },
): Promise<void> {
  const facts = (await findBaseSystem(db, baseSystem))?.facts;
  const repository = await saveUserRepository(db, {
    accountId: account.id,
    baseSystem,
    name: `${account.username} ${facts?.title ?? baseSystem}`,
    arches: ["i586", "x86_64"],
  });
  await publishUserRepository(env, db, repository);
}

/**
 * Writes the index from the headers of the uploads, repomd.xml last. Two may do that at once, and the one that knows less may
 * come last: whoever has written looks again, and goes on until what is written is what there is.
 */
export async function publishUserRepository(env: Env, db: Database, repository: UserRepository): Promise<void> {
  const list = () => listRpms(db, repository.accountId, repository.baseSystem);
  for (let uploads = await list(); ;) {
    const failure = await writeIndex(env, repository.id, uploads).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const now = await list();
    if (stateOf(now) === stateOf(uploads)) {
      if (failure) throw failure.error;
      break;
    }
    uploads = now;
  }
  await requestImports(env, [repository.id]);
}

/** Which uploads an index is made of, in one word. */
export const stateOf = (uploads: readonly Rpm[]): string =>
  createHash("sha256")
    .update(JSON.stringify(uploads.map(({ id, blobId }) => [id, blobId])))
    .digest("hex");

async function writeIndex(env: Env, repositoryId: number, uploads: Rpm[]): Promise<void> {
  const winners = newest(uploads);
  const now = new Date();
  const files = await writeRpmMd(packagesOf(env, uploads, winners), winners.size, Math.floor(now.getTime() / 1000));
  const state = stateOf(uploads);
  for (const { path, bytes } of files) {
    await putIndexFile(env.BLOBS, repositoryId, { path, bytes, state, sha256: hexDigest("sha256", bytes) });
  }
  const before = new Date(now.getTime() - readersMs);
  await removeOldIndexFiles(env.BLOBS, repositoryId, { keep: files.map(({ path }) => path), before });
}

/** Of packages that came more than once the latest, as "upload/number". */
function newest(uploads: readonly Rpm[]): Set<string> {
  const byAge = uploads.toSorted((a, b) => a.uploadedAt.getTime() - b.uploadedAt.getTime() || a.id - b.id);
  const latest = new Map<string, string>();
  for (const { blobId, packages } of byAge) {
    for (const [number, { nevra }] of packages.entries()) latest.set(nevra, `${blobId}/${number}`);
  }
  return new Set(latest.values());
}

async function* packagesOf(env: Env, uploads: Rpm[], winners: Set<string>): AsyncGenerator<RepositoryPackage> {
  for (const { blobId, packages, uploadedAt } of uploads) {
    let number = 0;
    for await (const facts of readHeaders(env.BLOBS, blobId)) {
      const fileName = packages[number]?.fileName ?? "";
      const location = `packages/${blobId}/${number}/${fileName}`;
      if (winners.has(`${blobId}/${number}`)) {
        yield { ...facts, location, fileTime: Math.floor(uploadedAt.getTime() / 1000) };
      }
      number += 1;
    }
  }
}

/** The key in R2 of a file of a user repository, named as its index names it; undefined when there is no such file. */
export async function userRepositoryFile(
  db: Database,
  repositoryId: number,
  path: string,
): Promise<string | undefined> {
  const repository = await findUserRepositoryById(db, repositoryId);
  if (!repository) return undefined;
  if (/^repodata\/[a-z0-9.-]+$/.test(path)) return userRepositoryFileKey(repositoryId, path);
  const [, blobId = "", number = ""] = /^packages\/([0-9a-f-]{36})\/(\d{1,6})\/[^/]+$/.exec(path) ?? [];
  const rpm = blobId === "" ? undefined : await findRpmByBlob(db, blobId);
  if (rpm?.accountId !== repository.accountId || rpm.baseSystem !== repository.baseSystem) return undefined;
  if (Number(number) >= rpm.packages.length) return undefined;
  return rpm.isArchive ? archivedPackageKey(blobId, Number(number)) : uploadKey(blobId);
}
