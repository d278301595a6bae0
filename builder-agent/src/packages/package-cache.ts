/** Caches the packages that builds on this host have fetched. */
import { createHash } from "node:crypto";
import { constants, copyFile, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { FrozenPackage } from "../contract.ts";
import { DiskCache, fileSize } from "../disk-cache.ts";
import { freeBytes } from "../disk-room.ts";
import { sentenceOf, type Log } from "../log.ts";
import { orAborted } from "../mutex.ts";
import { receive } from "../receive.ts";

export interface WantedPackage {
  /** URL of its repository. A package of another repository never replaces it. */
  repository: string;
  checksum: FrozenPackage["checksum"];
  /** The path where the build needs it. */
  into: string;
}

/** A package is not cached if less disk space than this would remain free. */
const reserveBytes = 1e9;

/**
 * A package is `REPOSITORY/TYPE/AA/CHECKSUM`. REPOSITORY is a digest of its URL. Without it, anyone who knows the
 * checksum of a private package could get that package, and anyone who can make two files with the same MD5 could
 * replace one with the other.
 *
 * A build gets a copy, never a link, because scripts of bare builds could write through a link. The checksum is
 * verified while the copy is made, because such scripts could have written to the cache too.
 */
export class PackageCache {
  readonly #cache: DiskCache;
  readonly #options: { dir: string; maxBytes: number; log: Log };
  /** Downloads in progress, by path. They never fail. */
  readonly #coming = new Map<string, Promise<void>>();

  private constructor(cache: DiskCache, options: { dir: string; maxBytes: number; log: Log }) {
    this.#cache = cache;
    this.#options = options;
  }

  static async open(dir: string, maxBytes: number, log: Log): Promise<PackageCache> {
    const list = () => listPackages(dir);
    const cache = await DiskCache.open({ dir, limits: { maxBytes }, list, sizeOf: fileSize, index: "memory" });
    return new PackageCache(cache, { dir, maxBytes, log });
  }

  /**
   * Puts the package into its place: copies the cached one, or calls `download` and caches the result. Builds that need
   * the same package at the same time share one download. If it fails, the next build tries its own.
   */
  async take(wanted: WantedPackage, download: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const path = this.#pathOf(wanted);
    for (;;) {
      if (await this.#copy(path, wanted)) return;
      const other = this.#coming.get(path);
      if (other === undefined) break;
      await orAborted(other, signal);
    }
    const done = download();
    const over = done.then(() => this.#store(path, wanted.into)).catch(() => {});
    this.#coming.set(path, over);
    await over.finally(() => this.#coming.delete(path));
    await done;
  }

  /** Frees at least that many bytes, or all that the cache has. */
  async free(bytes: number): Promise<void> {
    await this.#cache.free(bytes);
  }

  #pathOf({ repository, checksum: { type, value } }: WantedPackage): string {
    const source = createHash("sha256").update(repository).digest("hex").slice(0, 32);
    return join(this.#options.dir, source, type, value.slice(0, 2), value);
  }

  async #copy(path: string, { checksum, into }: WantedPackage): Promise<boolean> {
    if (!(await this.#cache.touch(path))) return false;
    if (await copyChecked(path, into, checksum)) return true;
    this.#options.log("cached package is missing or has a wrong checksum, dropping it", { path });
    await this.#cache.remove(path);
    return false;
  }

  /** Stores a package. If that fails, the build continues. */
  async #store(path: string, from: string): Promise<void> {
    const { dir, maxBytes, log } = this.#options;
    const incoming = this.#cache.incoming("package");
    try {
      const { size } = await stat(from);
      if (size > maxBytes || (await freeBytes(dir)) - size < reserveBytes) return;
      await copyFile(from, incoming, constants.COPYFILE_FICLONE);
      await this.#cache.publish(incoming, path);
    } catch (error) {
      log("could not cache a package", { reason: sentenceOf(error) });
      await rm(incoming, { force: true });
    }
  }
}

/** Undefined if the operator has switched it off. Then the directory of an earlier cache is deleted. */
export async function openConfiguredPackageCache(
  { stateDir, packageCacheGb }: Pick<Config, "stateDir" | "packageCacheGb">,
  log: Log,
): Promise<PackageCache | undefined> {
  const dir = join(stateDir, "packages");
  if (packageCacheGb > 0) return await PackageCache.open(dir, packageCacheGb * 1e9, log);
  await rm(dir, { recursive: true, force: true });
  return undefined;
}

async function listPackages(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const packages = entries.filter((entry) => entry.isFile() && /^[0-9a-f]{32,128}$/.test(entry.name));
  return packages.map((entry) => join(entry.parentPath, entry.name));
}

/** False if there is no such file, or if its checksum is wrong. */
async function copyChecked(from: string, into: string, { type, value }: FrozenPackage["checksum"]): Promise<boolean> {
  // Do not follow a link, and do not wait for the writer of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using source = await open(from, flags).catch(() => undefined);
  if (!source || !(await source.stat()).isFile()) return false;
  const bytes = source.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 });
  return (await receive(bytes, into, { type })) === value;
}
