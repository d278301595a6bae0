import { link, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DiskCache, fileSize, type CacheLimits } from "../disk-cache.ts";
import { sha256OfFile } from "../file-hash.ts";
import { KeyedLock } from "../mutex.ts";

/** Archives of prepared roots on this host, by the key of the root (key.ts). */
export interface PreparedRoots {
  /** Waits while another build prepares that root. Returns a function that unlocks it. */
  lock(key: string, signal: AbortSignal): Promise<() => void>;
  /** Puts the archive at `into`, on the same disk. False if there is none or it was damaged. */
  take(key: string, into: string): Promise<boolean>;
  /** Stores an archive that is on the same disk and complete. */
  put(key: string, file: string): Promise<void>;
  forget(key: string): Promise<void>;
  /** Removes all roots. */
  free(): Promise<void>;
}

/**
 * An archive is `KEY.SHA256.tar.zst`. Builds get a hard link, so a script of a bare build could damage an archive. The
 * digest detects that.
 */
export async function openPreparedRoots(dir: string, limits: CacheLimits): Promise<PreparedRoots> {
  // An operator may delete the directory while the agent runs.
  const names = () => readdir(dir).catch(() => []);
  const list = async () => (await names()).filter((name) => archiveName.test(name)).map((name) => join(dir, name));
  const cache = await DiskCache.open({ dir, limits, list, sizeOf: fileSize, index: "disk" });
  const locks = new KeyedLock();
  const archivesOf = async (key: string) =>
    (await names()).flatMap((name) => {
      const [, itsKey, sha256] = archiveName.exec(name) ?? [];
      return itsKey === key ? [{ path: join(dir, name), sha256 }] : [];
    });
  return {
    lock: (key, signal) => locks.acquire(key, signal),
    async take(key, into) {
      await cache.evict();
      const [stored] = await archivesOf(key);
      if (!stored || !(await isLinked(stored.path, into))) return false;
      if ((await sha256OfFile(into)) === stored.sha256) {
        await cache.touch(stored.path);
        return true;
      }
      await Promise.all([cache.remove(stored.path), rm(into, { force: true })]);
      return false;
    },
    async put(key, file) {
      const path = join(dir, `${key}.${await sha256OfFile(file)}.tar.zst`);
      const incoming = cache.incoming("root");
      await link(file, incoming);
      await cache.publish(incoming, path);
    },
    async forget(key) {
      await Promise.all((await archivesOf(key)).map(({ path }) => cache.remove(path)));
    },
    free: () => cache.free(Infinity),
  };
}

const archiveName = /^([0-9a-f]{64})\.([0-9a-f]{64})\.tar\.zst$/;

/** False if it was deleted in the meantime. */
async function isLinked(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
