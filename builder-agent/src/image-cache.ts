import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootId } from "./host-key.ts";
import { DiskCache, diskUse, type CacheLease } from "./disk-cache.ts";

const formats = ["raw", "iso"] as const;
type ImageFormat = (typeof formats)[number];

/** A disk or medium that the cache may take over. */
export interface CacheableImage {
  path: string;
  format: ImageFormat;
}

/** An image on this host. The cache does not remove it before it is released: `using image = …`, or call `release`. */
export interface CachedImage extends CacheLease {
  format: ImageFormat;
}

/** Unpacked disks and media of builds, which testdrives start from. */
export interface ImageCache {
  /** Renames `file`, so it must be on the cache's disk. `sha256` is that of the downloadable file. */
  put(buildId: number, sha256: string, file: string, format: ImageFormat): Promise<CachedImage>;
  find(buildId: number, sha256: string): Promise<CachedImage | undefined>;
  /** Renames a directory, which becomes a snapshot of a held image. It counts towards the same limit. */
  putSnapshot(image: CachedImage, key: string, folder: string): Promise<void>;
  /** The path of the snapshot of a held image. */
  findSnapshot(image: CachedImage, key: string): Promise<string | undefined>;
  dropSnapshot(image: CachedImage, key: string): Promise<void>;
  /** Removes images that are not held, until that many bytes are free or no such image is left. */
  free(bytes: number): Promise<void>;
  /** A path on the cache's disk to download or unpack to. The next start removes what is still there. */
  incoming(name: string): string;
  /** Settles when everything that was started is done, including evictions after a release. */
  idle(): Promise<void>;
}

/**
 * An image is `BUILD_ID/SHA256.FORMAT`; its snapshots are directories next to it, `SHA256.FORMAT.KEY.snapshot`. The
 * cache does not wait until an image is written to the disk, so images are dropped when the host restarts.
 */
export async function openImageCache(dir: string, maxBytes: number): Promise<ImageCache> {
  await forgetEarlierRuns(dir);
  const cache = await DiskCache.open({
    dir,
    limits: { maxBytes },
    list: () => listImages(dir),
    sizeOf: diskUse,
    parentOf: imageOfSnapshot,
    index: "disk",
  });
  const imagePath = (buildId: number, sha256: string, format: ImageFormat) =>
    join(dir, String(buildId), `${sha256}.${format}`);

  return {
    async put(buildId, sha256, file, format) {
      const lease = cache.lease(imagePath(buildId, sha256, format));
      try {
        await cache.publish(file, lease.path);
        return { ...lease, format };
      } catch (error) {
        lease.release();
        throw error;
      }
    },
    async find(buildId, sha256) {
      const lease = await cache.find(...formats.map((format) => imagePath(buildId, sha256, format)));
      const format = formats.find((each) => lease?.path.endsWith(`.${each}`));
      return lease && format && { ...lease, format };
    },
    putSnapshot: (image, key, folder) => cache.publish(folder, snapshotPath(image, key)),
    async findSnapshot(image, key) {
      const path = snapshotPath(image, key);
      return (await cache.touch(path)) ? path : undefined;
    },
    dropSnapshot: (image, key) => cache.remove(snapshotPath(image, key)),
    free: (bytes) => cache.free(bytes),
    incoming: (name) => cache.incoming(name),
    idle: () => cache.idle(),
  };
}

const imageName = /^[0-9a-f]{64}\.(raw|iso)$/;
const snapshotName = /^[0-9a-f]{64}\.(raw|iso)\.[0-9a-f]+\.snapshot$/;

const snapshotPath = (image: CachedImage, key: string) => `${image.path}.${key}.snapshot`;
const imageOfSnapshot = (path: string) => /^(.*)\.[0-9a-f]+\.snapshot$/.exec(path)?.[1];

async function listImages(dir: string): Promise<string[]> {
  const builds = (await readdir(dir)).filter((name) => /^\d+$/.test(name));
  const folders = builds.map(async (name) => await readdir(join(dir, name), { withFileTypes: true }));
  return (await Promise.all(folders))
    .flat()
    .filter((entry) => (entry.isFile() ? imageName.test(entry.name) : snapshotName.test(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Empties the cache after a restart of the host: if it lost power, parts of an image may never have been written. */
async function forgetEarlierRuns(dir: string): Promise<void> {
  const noted = join(dir, "boot-id");
  const now = await bootId();
  if ((await readFile(noted, "utf8").catch(() => "")) === now) return;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  await writeFile(noted, now);
}
