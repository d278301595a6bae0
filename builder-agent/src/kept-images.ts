import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** An image, or a snapshot of its booted guest, as it lies in the cache. */
export interface Kept {
  path: string;
  /** What it takes on the disk: a disk image is sparse. */
  bytes: number;
  usedAt: number;
}

/** `SHA256.raw` or `.iso`; its snapshots are directories beside it, `SHA256.raw.KEY.snapshot`. */
const imageName = /^[0-9a-f]{64}\.(raw|iso)$/;
const snapshotName = /^([0-9a-f]{64}\.(?:raw|iso))\.[0-9a-f]+\.snapshot$/;

export const snapshotPath = (image: string, key: string) => `${image}.${key}.snapshot`;

/** All that the cache keeps, the least recently used first. */
export async function listKept(dir: string): Promise<Kept[]> {
  const builds = await readdir(dir, { withFileTypes: true });
  const folders = builds.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name));
  const kept = await Promise.all(folders.map(listFolder));
  return kept.flat().toSorted((a, b) => a.usedAt - b.usedAt);
}

/**
 * Removes what was not used for the longest time, until the rest fits; an image takes its snapshots along, which are of
 * no use without it. What `isHeld` stays.
 */
export async function evictKept(dir: string, maxBytes: number, isHeld: (image: string) => boolean): Promise<void> {
  const kept = await listKept(dir);
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const gone = new Set<string>();
  for (const { path } of kept) {
    if (total <= maxBytes) return;
    if (gone.has(path) || isHeld(path)) continue;
    for (const each of kept.filter((other) => other.path === path || isSnapshotOf(other.path, path))) {
      if (gone.has(each.path)) continue;
      await rm(each.path, { recursive: true, force: true });
      gone.add(each.path);
      total -= each.bytes;
    }
  }
}

const isSnapshotOf = (path: string, image: string) => path.startsWith(`${image}.`) && path.endsWith(".snapshot");

async function listFolder(folder: string): Promise<Kept[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.filter((entry) => entry.isFile()).map((entry) => entry.name));
  const kept = entries.map(async (entry): Promise<Kept[]> => {
    const path = join(folder, entry.name);
    if (entry.isFile() && imageName.test(entry.name)) return await measure(path, [path]);
    const image = entry.isDirectory() ? snapshotName.exec(entry.name)?.[1] : undefined;
    if (image === undefined) return [];
    if (names.has(image))
      return await measure(
        path,
        (await readdir(path)).map((name) => join(path, name)),
      );
    // Its image went before a crash.
    await rm(path, { recursive: true, force: true });
    return [];
  });
  return (await Promise.all(kept)).flat();
}

/** Nothing, if it goes meanwhile. */
async function measure(path: string, files: string[]): Promise<Kept[]> {
  try {
    const { mtimeMs } = await stat(path);
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).blocks * 512));
    return [{ path, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0), usedAt: mtimeMs }];
  } catch {
    return [];
  }
}
