import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";

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
  /** A path on the cache's disk to download or unpack to; what is left there after a crash is removed at the next start. */
  incoming(name: string): string;
}

/**
 * An image is `BUILD_ID/SHA256.FORMAT`; its modification time is when it was last used. Only a rename puts it there, so
 * what has that name is whole.
 */
export async function openImageCache(dir: string, maxBytes: number): Promise<ImageCache> {
  const incomingDir = join(dir, "incoming");
  await rm(incomingDir, { recursive: true, force: true });
  await mkdir(incomingDir, { recursive: true });
  const holders = new Map<string, number>();
  let incomingCount = 0;
  await evict(dir, maxBytes, holders);

  return {
    async put(buildId, sha256, file, format) {
      const path = join(dir, String(buildId), `${sha256}.${format}`);
      await mkdir(join(dir, String(buildId)), { recursive: true });
      const held = hold(holders, path, format);
      try {
        await rename(file, path);
        await touch(path);
        await evict(dir, maxBytes, holders);
      } catch (error) {
        held.release();
        throw error;
      }
      return held;
    },
    async find(buildId, sha256) {
      for (const format of ["raw", "iso"] as const) {
        const held = hold(holders, join(dir, String(buildId), `${sha256}.${format}`), format);
        if (await touch(held.path)) return held;
        held.release();
      }
      return undefined;
    },
    incoming: (name) => join(incomingDir, `${++incomingCount}-${basename(name)}`),
  };
}

/** Held before it is looked for, so that no eviction can come between. */
function hold(holders: Map<string, number>, path: string, format: ImageFormat): CachedImage {
  holders.set(path, (holders.get(path) ?? 0) + 1);
  let held = true;
  const release = () => {
    if (!held) return;
    held = false;
    const left = (holders.get(path) ?? 1) - 1;
    if (left === 0) holders.delete(path);
    else holders.set(path, left);
  };
  return { path, format, release, [Symbol.dispose]: release };
}

async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return await utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

async function evict(dir: string, maxBytes: number, holders: Map<string, number>): Promise<void> {
  const images = (await listImages(dir)).toSorted((a, b) => a.usedAt - b.usedAt);
  let total = images.reduce((sum, image) => sum + image.bytes, 0);
  for (const image of images) {
    if (total <= maxBytes) return;
    if (holders.has(image.path)) continue;
    await rm(image.path, { force: true });
    total -= image.bytes;
  }
}

async function listImages(dir: string) {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /^[0-9a-f]{64}\.(raw|iso)$/.test(entry.name));
  return await Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const found = await stat(path);
      // A disk image is sparse: what counts is what it takes on the disk.
      return { path, bytes: found.blocks * 512, usedAt: found.mtimeMs };
    }),
  );
}
