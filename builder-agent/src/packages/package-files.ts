/** Fetches the frozen packages and verifies their frozen checksums. Nothing else gets into the image. */
import { join } from "node:path";
import { BuildFailure } from "../run/failure.ts";
import { type FrozenInput, type FrozenPackage, type FrozenRepository, isOwnRepository, nvra } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { OutsideRefused } from "../outside.ts";
import { quietLimit, receive } from "../receive.ts";
import { isWorthRetry, RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import { addressOf, askRepository, insideOnly, type Address, type Reach } from "./mirror.ts";
import type { PackageCache } from "./package-cache.ts";
import { packageFile } from "./package-file.ts";
import type { PackageStore } from "./stored-packages.ts";

export interface PackageFetch {
  input: Pick<FrozenInput, "packages" | "repositories">;
  dir: string;
  reach: Reach;
  /** Packages that earlier builds fetched. */
  packageCache?: PackageCache | undefined;
  /** The service's copies, for packages that their mirrors no longer have. */
  stored?: PackageStore | undefined;
  /** Called when the service's copy of a package was taken, with the reason. */
  onStoredCopy?: ((reason: string) => void) | undefined;
  /** The end of the message about a package that cannot be fetched. Default: what the owner of the appliance can do. */
  advice?: string;
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
}

/** More downloads from one mirror would not be faster, and would burden it. */
const atOnce = 6;
const maxPackageBytes = 4 * 1024 ** 3;

/** Fetches every package of the input into `dir`. */
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
  // Only the first failure counts. The others are its consequence.
  const workers = Array.from({ length: atOnce }, work);
  await Promise.all(workers).catch(async (error: unknown) => {
    failed.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
}

interface OneFetch extends PackageFetch {
  /** The repository of the package. */
  repository: FrozenRepository | undefined;
}

async function fetchOne(one: FrozenPackage, job: OneFetch): Promise<void> {
  const { repository } = job;
  if (repository === undefined) throw new Error(`${nvra(one)} belongs to a repository that is not part of the build`);
  const path = insideOnly(one.location);
  const into = join(job.dir, packageFile(one));
  const download = async () => {
    try {
      await fromMirrors(one, addressesOf(repository, path), job);
    } catch (error) {
      job.signal.throwIfAborted();
      if (!(await job.stored?.take(one, repository.id, into))) throw error;
      job.onStoredCopy?.(sentenceOf(packageFailure(error, one, { base: repository.url, advice: "" })));
    }
  };
  const wanted = { repository: addressOf(repository, path).base, checksum: one.checksum, into };
  try {
    await (job.packageCache ? job.packageCache.take(wanted, download, job.signal) : download());
  } catch (error) {
    job.signal.throwIfAborted();
    throw packageFailure(error, one, { base: repository.url, advice: job.advice });
  }
}

/** The addresses of a package. The snapshot comes first, because its files stay. */
const addressesOf = (repository: FrozenRepository, path: string): Address[] => {
  const { snapshotUrl } = repository;
  const own = addressOf(repository, path);
  return snapshotUrl === undefined ? [own] : [addressOf({ ...repository, url: snapshotUrl }, path), own];
};

/** Downloads from the first address that has the package. Throws the error of the last address. */
async function fromMirrors(one: FrozenPackage, addresses: readonly Address[], job: OneFetch): Promise<void> {
  for (const [index, address] of addresses.entries()) {
    try {
      return await withRetry(() => fetchFrom(address, one, job), shortTries(job.signal));
    } catch (error) {
      job.signal.throwIfAborted();
      if (index === addresses.length - 1) throw error;
    }
  }
}

async function fetchFrom(address: Address, one: FrozenPackage, job: OneFetch): Promise<void> {
  const { type, value } = one.checksum;
  using quiet = quietLimit(job.signal);
  const { body } = await askRepository(address, job.reach, quiet.signal);
  const onBytes = (size: number) => {
    quiet.heard();
    if (size > (one.size || maxPackageBytes)) throw new WrongPackage();
  };
  if ((await receive(body, join(job.dir, packageFile(one)), { type, onBytes })) !== value) throw new WrongPackage();
}

/** The file is not the one that the metadata announced. */
class WrongPackage extends Error {}

/**
 * Decides who is at fault. If it is the service, another agent retries the build. If it is a mirror, the build fails.
 */
function packageFailure(
  error: unknown,
  one: FrozenPackage,
  { base, advice = "Refresh the repository and build again." }: { base: string; advice?: string | undefined },
): unknown {
  const kind = isOwnRepository(base) && isWorthRetry(error) ? "error" : "failed";
  const from = `from ${isOwnRepository(base) ? "its repository" : base}`;
  const refresh = advice && ` ${advice}`;
  if (error instanceof OutsideRefused) {
    return new BuildFailure({ kind, reason: `A repository cannot be used: ${error.message}` }, { cause: error });
  }
  if (error instanceof WrongPackage) {
    const reason = `${nvra(one)} ${from} is not the file that was chosen: its ${one.checksum.type} or size differs.${refresh}`;
    return new BuildFailure({ kind, reason });
  }
  if (error instanceof RemoteRefusal && [403, 404, 410].includes(error.status)) {
    return new BuildFailure({ kind, reason: `${nvra(one)} is missing: HTTP ${error.status} ${from}.${refresh}` });
  }
  if (!isWorthRetry(error) && !(error instanceof RemoteRefusal)) return error;
  const reason = `${nvra(one)} could not be downloaded ${from}: ${sentenceOf(error)}`.slice(0, 500);
  return new BuildFailure({ kind, reason }, { cause: error });
}
