import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { bootId } from "../boot-id.ts";
import type { FileStore } from "../build/file-store.ts";
import type { UploadFile } from "../upload/upload.ts";
import type { StoreLimits } from "./store.ts";

/** A disk that KIWI has made, what rpm said is in it, and the file store of its root: each on the disk of the store. */
export interface MadeDisk {
  image: string;
  packages: string;
}

/** Disks on this host, by what decides about one (key.ts): some image types are one disk in several containers. */
export interface KeptDisks {
  /** Puts the disk and its list of packages into `target`, as KIWI leaves them there, and the file store into `workDir`. */
  take(key: string, place: { target: string; workDir: string }): Promise<FileStore | undefined>;
  /** Holds on to a disk that is moved away afterwards. */
  begin(key: string, disk: MadeDisk): Promise<DiskSlot>;
  /** Removes all that is kept: the disk is needed. */
  giveUp(): Promise<void>;
}

/** A disk that is not kept before its file store is written too; what is not kept is gone at the end. */
export interface DiskSlot extends AsyncDisposable {
  keep(store: FileStore): Promise<void>;
}

const names = { image: "disk.raw", packages: "disk.packages", files: "files.zst", index: "files-index.gz" } as const;
const factsName = "facts.json";

const Digests = z.object({
  size: z.number(),
  md5: z.string(),
  sha1: z.string(),
  sha256: z.string(),
  parts: z.array(z.string()),
});
/**
 * `sizes`: of each file, by its name here. Times are no witness: testdrives use the same file, and touch it. `boot`: nobody has
 * waited until the files are on the disk, so they do not outlive the host's run; disks from before this was noted do not either.
 */
const Facts = z.object({
  boot: z.string(),
  entries: z.number(),
  files: Digests,
  index: Digests,
  sizes: z.record(z.string(), z.number()),
});

/** A disk is a directory of its key's name, and only a rename puts it there; its modification time is when it was last used. */
export async function openKeptDisks(dir: string, limits: StoreLimits): Promise<KeptDisks> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await removeUnfinished(dir);
  await evict(dir, limits);
  let count = 0;
  return {
    async take(key, { target, workDir }) {
      await evict(dir, limits);
      const kept = join(dir, key);
      try {
        const facts = Facts.parse(JSON.parse(await readFile(join(kept, factsName), "utf8")));
        if (facts.boot !== (await bootId())) throw new Error("perhaps not written out");
        if (JSON.stringify(facts.sizes) !== JSON.stringify(await sizesIn(kept))) throw new Error("not whole");
        for (const name of [names.image, names.packages]) await link(join(kept, name), join(target, name));
        for (const name of [names.files, names.index]) await link(join(kept, name), join(workDir, name));
        const now = new Date();
        await utimes(kept, now, now);
        return storeIn(workDir, facts);
      } catch {
        // None, or none that is whole: KIWI makes it anew.
        await rm(kept, { recursive: true, force: true });
        await clear(target, workDir);
        return undefined;
      }
    },
    async begin(key, { image, packages }) {
      const slot = join(dir, `incoming-${++count}`);
      await mkdir(slot);
      await link(image, join(slot, names.image));
      await link(packages, join(slot, names.packages));
      return {
        async keep(store) {
          await link(store.files.path, join(slot, names.files));
          await link(store.index.path, join(slot, names.index));
          const { entries, files, index } = store;
          const digests = { files: files.digests, index: index.digests };
          const facts = { boot: await bootId(), entries, ...digests, sizes: await sizesIn(slot) };
          await writeFile(join(slot, factsName), JSON.stringify(facts));
          await rm(join(dir, key), { recursive: true, force: true });
          await rename(slot, join(dir, key));
          await evict(dir, limits);
        },
        [Symbol.asyncDispose]: () => rm(slot, { recursive: true, force: true }),
      };
    },
    giveUp: () => evict(dir, { ...limits, maxBytes: 0 }),
  };
}

async function sizesIn(dir: string): Promise<Record<string, number>> {
  const sizes = Object.values(names).map(async (name) => [name, (await stat(join(dir, name))).size] as const);
  return Object.fromEntries(await Promise.all(sizes));
}

function storeIn(workDir: string, { entries, files, index }: z.infer<typeof Facts>): FileStore {
  const file = (fileName: string, digests: UploadFile["digests"]): UploadFile => ({
    path: join(workDir, fileName),
    fileName,
    digests,
  });
  return { entries, files: file(names.files, files), index: file(names.index, index) };
}

async function clear(target: string, workDir: string): Promise<void> {
  const halves = [names.image, names.packages].map((name) => join(target, name));
  const others = [names.files, names.index].map((name) => join(workDir, name));
  await Promise.all([...halves, ...others].map((path) => rm(path, { force: true })));
}

async function removeUnfinished(dir: string): Promise<void> {
  const left = (await readdir(dir)).filter((name) => name.startsWith("incoming-"));
  await Promise.all(left.map((name) => rm(join(dir, name), { recursive: true, force: true })));
}

/** The least recently used ones first. */
async function evict(dir: string, { maxBytes, maxAgeMs }: StoreLimits): Promise<void> {
  const entries = await readdir(dir).catch(() => []); // somebody may have tidied it away
  const kept = entries.filter((name) => /^[0-9a-f]{64}$/.test(name));
  const disks = await Promise.all(kept.map((name) => sizeAndAge(join(dir, name))));
  const oldestFirst = disks.flatMap((disk) => disk ?? []).toSorted((a, b) => a.usedAt - b.usedAt);
  let total = oldestFirst.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes, usedAt } of oldestFirst) {
    if (total <= maxBytes && Date.now() - usedAt <= maxAgeMs) continue;
    await rm(path, { recursive: true, force: true });
    total -= bytes;
  }
}

/** Undefined: gone meanwhile. A disk is sparse: what counts is what it takes. */
async function sizeAndAge(path: string) {
  try {
    const { mtimeMs: usedAt } = await stat(path);
    const files = await Promise.all(Object.values(names).map((name) => stat(join(path, name))));
    return { path, usedAt, bytes: files.reduce((sum, { blocks }) => sum + blocks * 512, 0) };
  } catch {
    return undefined;
  }
}
