/** Fetches the frozen packages, each compared with its frozen checksum: nothing else gets into the image. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { quietLimit } from "../quiet-limit.ts";
import { nvra, type FrozenInput, type FrozenPackage, type FrozenRepository } from "../contract.ts";
import { shortTries, withRetry } from "../retry.ts";
import { writeAll } from "../testdrive/write-all.ts";
import { addressOf, askRepository, insideOnly, type Address, type Reach } from "./mirror.ts";
import type { PackageCache } from "./package-cache.ts";
import { packageFile } from "./package-file.ts";
import { packageFailure, WrongPackage } from "./package-failure.ts";
import type { StoredPackageFiles } from "./stored-packages.ts";

export interface PackageFetch {
  input: Pick<FrozenInput, "packages" | "repositories">;
  dir: string;
  reach: Reach;
  /** Packages that earlier builds have fetched. */
  packageCache?: PackageCache | undefined;
  /** Asked for packages that their mirrors do not have any more. */
  stored?: StoredPackageFiles | undefined;
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
}

/** More would gain nothing at one mirror, and would be rude. */
const atOnce = 6;
const maxPackageBytes = 4 * 1024 ** 3;

/** Puts every package of the input into `dir`. */
export async function fetchPackages(fetching: PackageFetch): Promise<void> {
  const { packages, repositories } = fetching.input;
  const byAlias = new Map(repositories.map((repository) => [repository.alias, repository]));
  const failed = new AbortController();
  const signal = AbortSignal.any([fetching.signal, failed.signal]);
  const waiting = packages.values();
  let done = 0;
  const work = async () => {
    for (const one of waiting) {
      await fetchOne(one, { ...fetching, signal, repository: byAlias.get(one.repository) });
      fetching.onProgress(++done / packages.length);
    }
  };
  // The first failure is the one to tell; the others would only say that they were stopped.
  const workers = Array.from({ length: atOnce }, work);
  await Promise.all(workers).catch(async (error: unknown) => {
    failed.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
}

interface OneFetch extends PackageFetch {
  /** That the package is from. */
  repository: FrozenRepository | undefined;
}

async function fetchOne(one: FrozenPackage, job: OneFetch): Promise<void> {
  const { repository } = job;
  if (repository === undefined) throw new Error(`${nvra(one)} is of a repository that the build does not have`);
  const path = insideOnly(one.location);
  const into = join(job.dir, packageFile(one));
  const download = async () => {
    try {
      await fromMirrors(one, addressesOf(repository, path), job);
    } catch (error) {
      job.signal.throwIfAborted();
      if (!(await job.stored?.take(one, repository.id, into))) throw error;
    }
  };
  const wanted = { repository: addressOf(repository, path).base, checksum: one.checksum, into };
  try {
    await (job.packageCache ? job.packageCache.take(wanted, download, job.signal) : download());
  } catch (error) {
    job.signal.throwIfAborted();
    throw packageFailure(error, one, repository.url);
  }
}

/** The snapshot first, because its files stay. */
const addressesOf = (repository: FrozenRepository, path: string): Address[] => {
  const { snapshotUrl } = repository;
  const own = addressOf(repository, path);
  return snapshotUrl === undefined ? [own] : [addressOf({ ...repository, url: snapshotUrl }, path), own];
};

/** From the first of the addresses that has it. The failure of the last one counts. */
async function fromMirrors(one: FrozenPackage, addresses: readonly Address[], job: OneFetch): Promise<void> {
  for (const [index, address] of addresses.entries()) {
    try {
      return await withRetry(() => receive(one, address, job), shortTries(job.signal));
    } catch (error) {
      job.signal.throwIfAborted();
      if (index === addresses.length - 1) throw error;
    }
  }
}

async function receive(one: FrozenPackage, address: Address, job: OneFetch): Promise<void> {
  const quiet = quietLimit(job.signal);
  try {
    const answer = await askRepository(address, job.reach, quiet.signal);
    await using file = await open(join(job.dir, packageFile(one)), "w", 0o644);
    const digest = createHash(one.checksum.type);
    let size = 0;
    for await (const bytes of answer.body ?? []) {
      quiet.heard();
      if (size + bytes.length > (one.size || maxPackageBytes)) throw new WrongPackage();
      await writeAll(file, bytes, size);
      digest.update(bytes);
      size += bytes.length;
    }
    if (digest.digest("hex") !== one.checksum.value) throw new WrongPackage();
  } finally {
    quiet.end();
  }
}
