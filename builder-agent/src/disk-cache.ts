import { lutimes, mkdir, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Mutex } from "./mutex.ts";

export interface CacheLimits {
  /** The limit for all entries together. */
  maxBytes: number;
  /** An entry that was not used for longer is deleted. */
  maxAgeMs?: number;
}

export interface CacheLayout {
  dir: string;
  limits: CacheLimits;
  /** The paths of all entries, each a file or a directory. */
  list(): Promise<string[]>;
  /** How many bytes of the limit an entry uses: `fileSize` or `diskUse`. */
  sizeOf(path: string): Promise<number>;
  /** The entry that this one needs. Both are deleted together. */
  parentOf?(path: string): string | undefined;
  /**
   * "disk": the cache lists its entries before each eviction, so others may change or delete them. "memory": it lists
   * them once, which is faster for thousands of entries.
   */
  index: "disk" | "memory";
}

/** The cache does not delete an entry while it has a lease. */
export interface CacheLease {
  path: string;
  release(): void;
  [Symbol.dispose](): void;
}

interface Entry {
  bytes: number;
  usedAt: number;
}

/** Asks the user of an entry to give it up. Settles when the entry is deleted. */
type GiveUp = () => Promise<void>;

const incomingPrefix = "incoming";

/**
 * Files and directories that are stored only to save time. An entry gets its name by a rename, so an entry that exists
 * is complete. Its modification time is the time of its last use. The least recently used entries are deleted first.
 */
export class DiskCache {
  readonly #layout: CacheLayout;
  readonly #mutex = new Mutex();
  /** Entries by path. The most recently used one is the last. */
  #entries = new Map<string, Entry>();
  readonly #leases = new Map<string, Set<GiveUp | symbol>>();
  #incomingCount = 0;

  /** An empty cache. Use `open` if an earlier process may have left entries. */
  constructor(layout: CacheLayout) {
    this.#layout = layout;
  }

  /** Opens the cache, and deletes what a crash left unfinished and what exceeds the limits. */
  static async open(layout: CacheLayout): Promise<DiskCache> {
    await mkdir(layout.dir, { recursive: true, mode: 0o700 });
    const unfinished = (await readdir(layout.dir)).filter((name) => name.startsWith(incomingPrefix));
    await Promise.all(unfinished.map((name) => rm(join(layout.dir, name), { recursive: true, force: true })));
    const cache = new DiskCache(layout);
    await cache.#mutex.run(async () => {
      await cache.#readEntries();
      void (await cache.#shrinkTo(layout.limits.maxBytes)); // the entries' users may take long to give them up
    });
    return cache;
  }

  /** A new path on the cache's disk, for a file or directory that `publish` then moves in. */
  incoming(name: string): string {
    return join(this.#layout.dir, `${incomingPrefix}-${++this.#incomingCount}-${basename(name)}`);
  }

  /** Makes a finished file or directory the entry of that path. It must be on the cache's disk. */
  publish(from: string, path: string): Promise<void> {
    return this.#mutex.run(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replace(from, path);
      await rm(from, { recursive: true, force: true }); // rename leaves both names if they are links to one file
      this.#entries.set(path, { bytes: await this.#layout.sizeOf(path), usedAt: Date.now() });
      await this.touch(path);
      await this.#evict();
    });
  }

  /** Marks an entry as used now. False if it does not exist. */
  async touch(path: string): Promise<boolean> {
    const now = new Date();
    const known = this.#entries.get(path);
    const used = known && { ...known, usedAt: now.getTime() };
    this.#entries.delete(path);
    if (used) this.#entries.set(path, used);
    try {
      await lutimes(path, now, now);
      return true;
    } catch {
      if (this.#entries.get(path) === used) this.#entries.delete(path); // otherwise it was published in the meantime
      return false;
    }
  }

  /** Takes a lease on the first of these entries that exists, and marks it as used. */
  find(...paths: string[]): Promise<CacheLease | undefined> {
    return this.#mutex.run(async () => {
      for (const path of paths) if (await this.touch(path)) return this.lease(path);
      return undefined;
    });
  }

  /**
   * @param giveUp called when the cache needs the room; without it, the entry stays until its last lease is released
   */
  lease(path: string, giveUp?: GiveUp): CacheLease {
    const mine = giveUp ?? Symbol(path);
    const leases = this.#leases.get(path) ?? new Set();
    this.#leases.set(path, leases.add(mine));
    const release = () => {
      if (!leases.delete(mine) || leases.size > 0) return;
      this.#leases.delete(path);
      void this.evict().catch(() => {}); // the next eviction tries again
    };
    return { path, release, [Symbol.dispose]: release };
  }

  remove(path: string): Promise<void> {
    return this.#mutex.run(async () => void (await this.#remove(path)));
  }

  /** Deletes entries until the limits are met. */
  evict(): Promise<void> {
    return this.#mutex.run(() => this.#evict());
  }

  /** Frees that many bytes, or all that no lease protects. */
  async free(bytes: number): Promise<void> {
    const leaving = await this.#mutex.run(async () => {
      await this.#refresh();
      return { settled: await this.#shrinkTo(Math.max(0, this.#totalBytes() - bytes)) };
    });
    await Promise.all(leaving.settled);
  }

  /** Settles when everything that was started is done, including evictions after a release. */
  idle(): Promise<void> {
    return this.#mutex.run(async () => {});
  }

  async #evict(): Promise<void> {
    await this.#refresh();
    void (await this.#shrinkTo(this.#layout.limits.maxBytes));
  }

  async #refresh(): Promise<void> {
    if (this.#layout.index === "disk") await this.#readEntries();
  }

  async #readEntries(): Promise<void> {
    const paths = await this.#layout.list();
    const found = await Promise.all(paths.map((path) => this.#measure(path)));
    const oldestFirst = found.flatMap((entry) => entry ?? []).toSorted((a, b) => a.usedAt - b.usedAt);
    this.#entries = new Map(oldestFirst.map(({ path, ...entry }) => [path, entry]));
    for (const path of paths) {
      const parent = this.#layout.parentOf?.(path);
      if (parent !== undefined && !this.#entries.has(parent)) await this.#remove(path); // a crash came between the two
    }
  }

  /** Undefined if it was deleted in the meantime. */
  async #measure(path: string) {
    try {
      const { mtimeMs: usedAt } = await stat(path);
      return { path, usedAt, bytes: await this.#layout.sizeOf(path) };
    } catch {
      return undefined;
    }
  }

  /** Returns a promise for each entry whose user was asked to give it up. It settles when the entry is deleted. */
  async #shrinkTo(maxBytes: number): Promise<Promise<void>[]> {
    const { maxAgeMs = Infinity } = this.#layout.limits;
    const leaving: Promise<void>[] = [];
    let total = this.#totalBytes();
    for (const [path, { bytes, usedAt }] of this.#entries) {
      if (total <= maxBytes && Date.now() - usedAt <= maxAgeMs) continue;
      const leases = [...(this.#leases.get(path) ?? [])];
      const users = leases.flatMap((lease) => (typeof lease === "symbol" ? [] : [lease]));
      if (users.length < leases.length) continue;
      leaving.push(...users.map((giveUp) => giveUp()));
      total -= users.length > 0 ? bytes : await this.#remove(path);
    }
    return leaving;
  }

  /** Returns the number of bytes freed. */
  async #remove(path: string): Promise<number> {
    const { parentOf } = this.#layout;
    const children = parentOf ? [...this.#entries.keys()].filter((each) => parentOf(each) === path) : [];
    let removed = 0;
    for (const each of [path, ...children]) {
      removed += this.#entries.get(each)?.bytes ?? 0;
      this.#entries.delete(each);
      await rm(each, { recursive: true, force: true });
    }
    if (dirname(path) !== this.#layout.dir) await removeIfEmpty(dirname(path));
    return removed;
  }

  #totalBytes(): number {
    return [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

export const fileSize = async (path: string): Promise<number> => (await stat(path)).size;

/**
 * The disk space that a path uses. A disk image is sparse, so it may use much less than its size. For a directory, the
 * files directly in it count.
 */
export async function diskUse(path: string): Promise<number> {
  const facts = await stat(path);
  if (!facts.isDirectory()) return facts.blocks * 512;
  const files = (await readdir(path)).map(async (name) => (await stat(join(path, name))).blocks * 512);
  return (await Promise.all(files)).reduce((sum, bytes) => sum + bytes, 0);
}

/** Atomic for files. A directory cannot replace another that has files, so the old one is deleted first. */
async function replace(from: string, path: string): Promise<void> {
  try {
    await rename(from, path);
  } catch (error) {
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    await rm(path, { recursive: true, force: true });
    await rename(from, path);
  }
}

/** Each empty directory would be read at each eviction. */
async function removeIfEmpty(dir: string): Promise<void> {
  await rmdir(dir).catch((error: unknown) => {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(String(codeOf(error)))) throw error;
  });
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);
