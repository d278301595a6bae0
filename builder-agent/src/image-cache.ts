import { mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bootId } from "./boot-id.ts";
import { evictKept, listKept, snapshotPath } from "./kept-images.ts";

export type ImageFormat = "raw" | "iso";

/** A disk or medium that the cache may take over. */
export interface CacheableImage {
  path: string;
  format: ImageFormat;
}

/** An image on this host. It is not removed while it is held: `using image = …`, or call `release`. */
export interface CachedImage {
  path: string;
  format: ImageFormat;
  release(): void;
  [Symbol.dispose](): void;
}

/** The disks and media of builds as testdrives start from them, unpacked; the least recently used ones go first. */
export interface ImageCache {
  /** Takes `file` over by rename, so it has to lie on the cache's disk. `sha256` is that of the downloadable file. */
  put(buildId: number, sha256: string, file: string, format: ImageFormat): Promise<CachedImage>;
  find(buildId: number, sha256: string): Promise<CachedImage | undefined>;
  /** Takes a directory over as the snapshot of an image that is held; counts towards the same limit. */
  putSnapshot(image: CachedImage, key: string, folder: string): Promise<void>;
  /** Where the snapshot of an image lies that is held. */
  findSnapshot(image: CachedImage, key: string): Promise<string | undefined>;
  dropSnapshot(image: CachedImage, key: string): Promise<void>;
  /** Removes images that nobody holds, the least recently used first, until they had that many bytes or none is left. */
  giveUp(bytes: number): Promise<void>;
  /** A path on the cache's disk to download or unpack to; what is left there after a crash is removed at the next start. */
  incoming(name: string): string;
  /** Settles when all is done that was begun, evictions after a release too. */
  idle(): Promise<void>;
}

/**
 * An image is `BUILD_ID/SHA256.FORMAT`; its modification time is when it was last used. Only a rename puts it there, so
 * what has that name is whole. Nobody waits until it is on the disk, so it does not outlive this run of the host.
 */
export async function openImageCache(dir: string, maxBytes: number): Promise<ImageCache> {
  const incomingDir = join(dir, "incoming");
  await forgetEarlierRuns(dir);
  await rm(incomingDir, { recursive: true, force: true });
  await mkdir(incomingDir, { recursive: true });
  const turns = takeTurns();
  const evict = (limit = maxBytes) => evictKept(dir, limit, (path) => holders.isHeld(path));
  const holders = new Holders(() => void turns.take(() => evict()).catch(() => {})); // the next eviction tries it again
  let incomingCount = 0;
  await evict();

  return {
    async put(buildId, sha256, file, format) {
      const path = join(dir, String(buildId), `${sha256}.${format}`);
      const held = holders.hold(path, format);
      try {
        await turns.take(() => moveIn(file, path, evict));
      } catch (error) {
        held.release();
        throw error;
      }
      return held;
    },
    find: (buildId, sha256) =>
      turns.take(async () => {
        for (const format of ["raw", "iso"] as const) {
          const path = join(dir, String(buildId), `${sha256}.${format}`);
          if (await touch(path)) return holders.hold(path, format);
        }
        return undefined;
      }),
    putSnapshot: (image, key, folder) =>
      turns.take(async () => {
        await rm(snapshotPath(image.path, key), { recursive: true, force: true });
        await moveIn(folder, snapshotPath(image.path, key), evict);
      }),
    async findSnapshot(image, key) {
      const path = snapshotPath(image.path, key);
      return (await touch(path)) ? path : undefined;
    },
    dropSnapshot: (image, key) => turns.take(() => rm(snapshotPath(image.path, key), { recursive: true, force: true })),
    giveUp: (bytes) =>
      turns.take(async () => {
        const kept = (await listKept(dir)).reduce((sum, image) => sum + image.bytes, 0);
        await evict(Math.max(0, kept - bytes));
      }),
    incoming: (name) => join(incomingDir, `${++incomingCount}-${basename(name)}`),
    idle: () => turns.take(async () => {}),
  };
}

/** A host that lost its power may have images in the cache of which a part was never written. */
async function forgetEarlierRuns(dir: string): Promise<void> {
  const noted = join(dir, "boot-id");
  const now = await bootId();
  if ((await readFile(noted, "utf8").catch(() => "")) === now) return;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  await writeFile(noted, now);
}

async function moveIn(from: string, path: string, evict: () => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rename(from, path);
  await touch(path);
  await evict();
}

async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return await utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

/** One after the other: what was found must not be removed before it is held. */
function takeTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take<T>(turn: () => Promise<T>): Promise<T> {
      const mine = last.then(() => turn());
      last = mine.catch(() => {});
      return mine;
    },
  };
}

/** Who uses which image; told when one is used no more. */
class Holders {
  readonly #counts = new Map<string, number>();
  readonly #onFree: () => void;

  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  isHeld(path: string): boolean {
    return this.#counts.has(path);
  }

  hold(path: string, format: ImageFormat): CachedImage {
    this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1);
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      this.#letGo(path);
    };
    return { path, format, release, [Symbol.dispose]: release };
  }

  #letGo(path: string): void {
    const left = (this.#counts.get(path) ?? 1) - 1;
    if (left > 0) return void this.#counts.set(path, left);
    this.#counts.delete(path);
    this.#onFree();
  }
}
