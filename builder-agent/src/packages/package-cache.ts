/** Packages that builds on this host have fetched, for the next ones. */
import { createHash } from "node:crypto";
import { constants, copyFile, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config.ts";
import type { FrozenPackage } from "../contract.ts";
import { freeBytes } from "../disk-room.ts";
import { sentenceOf, type Log } from "../log.ts";
import { writeAll } from "../testdrive/write-all.ts";

export interface WantedPackage {
  /** Address of the repository that it is of: what another one delivered is never given for it. */
  repository: string;
  checksum: FrozenPackage["checksum"];
  /** Where the build wants it. */
  into: string;
}

/** Nothing is kept that would leave less than this free on the disk. */
const reserveBytes = 1e9;

/**
 * A package is `REPOSITORY/TYPE/AA/CHECKSUM`, REPOSITORY a digest of its address: who knows the checksum of another's private
 * package must not get it by naming it, and who can make two files of one MD5 must not put one in the other's place. Its
 * modification time is when it was last used.
 *
 * A build gets a copy, never a link, since scripts that run bare could write through it; and what is copied is compared with
 * its checksum on the way, since they could have written here too.
 */
export class PackageCache {
  readonly #dir: string;
  readonly #maxBytes: number;
  readonly #log: Log;
  /** Bytes by path, the least recently used first. */
  readonly #kept: Map<string, number>;
  /** Downloads under way, by path; they never fail. */
  readonly #coming = new Map<string, Promise<void>>();
  #incomingCount = 0;

  private constructor(place: { dir: string; maxBytes: number; log: Log }, kept: Map<string, number>) {
    this.#dir = place.dir;
    this.#maxBytes = place.maxBytes;
    this.#log = place.log;
    this.#kept = kept;
  }

  /** Removes what a killed predecessor was about to keep, and what the limit no longer has room for. */
  static async open(dir: string, maxBytes: number, log: Log): Promise<PackageCache> {
    await rm(join(dir, incoming), { recursive: true, force: true });
    await mkdir(join(dir, incoming), { recursive: true, mode: 0o700 });
    const cache = new PackageCache({ dir, maxBytes, log }, await keptIn(dir));
    await cache.#shrinkTo(maxBytes);
    return cache;
  }

  /**
   * Puts the package into its place: a copy of the kept one, or what `download` puts there, which is kept then. Builds that
   * want the same at once share one download; if that fails, the next of them tries its own.
   */
  async take(wanted: WantedPackage, download: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const path = this.#pathOf(wanted);
    for (;;) {
      if (await this.#copy(path, wanted)) return;
      const other = this.#coming.get(path);
      if (other === undefined) break;
      await endOr(other, signal);
    }
    const done = download();
    const over = done.then(() => this.#keep(path, wanted.into)).catch(() => {});
    this.#coming.set(path, over);
    await over.finally(() => this.#coming.delete(path));
    await done;
  }

  /** Frees at least so many bytes, if it has as many. */
  async giveUp(bytes: number): Promise<void> {
    await this.#shrinkTo(Math.max(0, this.#total() - bytes));
  }

  #pathOf({ repository, checksum: { type, value } }: WantedPackage): string {
    const source = createHash("sha256").update(repository).digest("hex").slice(0, 32);
    return join(this.#dir, source, type, value.slice(0, 2), value);
  }

  async #copy(path: string, { checksum, into }: WantedPackage): Promise<boolean> {
    const bytes = this.#kept.get(path);
    if (bytes === undefined) return false;
    // To the end of the line, before anybody looks for the first.
    this.#kept.delete(path);
    this.#kept.set(path, bytes);
    if (await copyChecked(path, into, checksum)) {
      const now = new Date();
      await utimes(path, now, now).catch(() => {}); // evicted a moment ago
      return true;
    }
    this.#log("a kept package is not what it was", { path });
    await this.#forget(path);
    return false;
  }

  /** No build fails because its packages could not be kept. */
  async #keep(path: string, from: string): Promise<void> {
    const temporary = join(this.#dir, incoming, `${++this.#incomingCount}-${basename(path)}`);
    try {
      const { size } = await stat(from);
      if (size > this.#maxBytes || (await freeBytes(this.#dir)) - size < reserveBytes) return;
      await copyFile(from, temporary, constants.COPYFILE_FICLONE);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
      this.#kept.set(path, size);
      await this.#shrinkTo(this.#maxBytes);
    } catch (error) {
      this.#log("a package was not kept", { reason: sentenceOf(error) });
      await rm(temporary, { force: true });
    }
  }

  async #shrinkTo(bytes: number): Promise<void> {
    let total = this.#total();
    for (const [path, size] of this.#kept) {
      if (total <= bytes) return;
      await this.#forget(path);
      total -= size;
    }
  }

  async #forget(path: string): Promise<void> {
    this.#kept.delete(path);
    await rm(path, { force: true, recursive: true });
  }

  #total(): number {
    return [...this.#kept.values()].reduce((sum, bytes) => sum + bytes, 0);
  }
}

/** The cache as the operator wants it; undefined: none, and what one before it kept is gone. */
export async function openConfiguredPackageCache(
  { stateDir, packageCacheGb }: Pick<Config, "stateDir" | "packageCacheGb">,
  log: Log,
): Promise<PackageCache | undefined> {
  const dir = join(stateDir, "packages");
  if (packageCacheGb > 0) return await PackageCache.open(dir, packageCacheGb * 1e9, log);
  await rm(dir, { recursive: true, force: true });
  return undefined;
}

const incoming = "incoming";

/** Waits for what never fails; throws when the signal comes before. */
async function endOr(other: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: over.signal });
  });
  await Promise.race([other, stopped]).finally(() => over.abort());
}

async function keptIn(dir: string): Promise<Map<string, number>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /^[0-9a-f]{32,128}$/.test(entry.name));
  const found = await Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    }),
  );
  return new Map(found.toSorted((a, b) => a.mtimeMs - b.mtimeMs).map(({ path, size }) => [path, size]));
}

/** False: there is no such file, or another one. */
async function copyChecked(from: string, into: string, { type, value }: FrozenPackage["checksum"]): Promise<boolean> {
  // Neither through a link nor waiting for the writer of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using source = await open(from, flags).catch(() => undefined);
  if (!source || !(await source.stat()).isFile()) return false;
  await using copy = await open(into, "w", 0o644);
  const digest = createHash(type);
  const buffer = Buffer.alloc(1024 * 1024);
  for (let position = 0; ;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return digest.digest("hex") === value;
    const bytes = buffer.subarray(0, bytesRead);
    digest.update(bytes);
    await writeAll(copy, bytes, position);
    position += bytesRead;
  }
}
