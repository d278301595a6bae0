import { link, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { bootId } from "../host-key.ts";
import type { ScannedStore } from "../run/artifacts.ts";
import { Sha256 } from "../contract.ts";
import { DiskCache, diskUse, type CacheLimits } from "../disk-cache.ts";
import type { UploadFile } from "../upload/upload.ts";

/** A disk that KIWI has made, and what rpm reported about it. Both are on the disk of the cache. */
interface MadeDisk {
  image: string;
  packages: string;
}

/**
 * Disks on this host, by a hash of their inputs (key.ts): several image types are the same disk in different
 * containers.
 */
export interface PreparedDisks {
  /** Links the disk and its list of packages into `target`, as KIWI leaves them, and the file store into `workDir`. */
  take(key: string, paths: { target: string; workDir: string }): Promise<ScannedStore | undefined>;
  /** Links a disk before the build moves it away. */
  begin(key: string, disk: MadeDisk): Promise<DiskSlot>;
  /** Removes all disks. */
  free(): Promise<void>;
}

/** A disk that waits for its file store. It is deleted at the end unless `publish` was called. */
export interface DiskSlot extends AsyncDisposable {
  publish(store: ScannedStore): Promise<void>;
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
 * `sizes` has the size of each file. Modification times prove nothing, because testdrives use and touch the same file.
 * `boot` is the host's boot id: the cache does not flush the files, so a disk is dropped when the host restarts.
 */
const Facts = z.object({
  boot: z.string(),
  entries: z.number(),
  files: Digests,
  index: Digests,
  shared: z.array(z.string()),
  services: z.record(z.string(), z.array(z.string())),
  sizes: z.record(z.string(), z.number()),
});

/** A disk is a directory, named by its key. */
export async function openPreparedDisks(dir: string, limits: CacheLimits): Promise<PreparedDisks> {
  const cache = await DiskCache.open({ dir, limits, list: () => listDisks(dir), sizeOf: diskUse, index: "disk" });
  return {
    async take(key, { target, workDir }) {
      await cache.evict();
      const stored = join(dir, key);
      try {
        const facts = await readFacts(stored);
        for (const name of [names.image, names.packages]) await link(join(stored, name), join(target, name));
        for (const name of [names.files, names.index]) await link(join(stored, name), join(workDir, name));
        await cache.touch(stored);
        return storeIn(workDir, facts);
      } catch {
        // The disk is missing or damaged, so KIWI makes it again.
        await cache.remove(stored);
        await clear(target, workDir);
        return undefined;
      }
    },
    async begin(key, { image, packages }) {
      const slot = cache.incoming("disk");
      await mkdir(slot);
      await link(image, join(slot, names.image));
      await link(packages, join(slot, names.packages));
      return {
        async publish(store) {
          await link(store.files.path, join(slot, names.files));
          await link(store.index.path, join(slot, names.index));
          await writeFacts(slot, store);
          await cache.publish(slot, join(dir, key));
        },
        [Symbol.asyncDispose]: () => rm(slot, { recursive: true, force: true }),
      };
    },
    free: () => cache.free(Infinity),
  };
}

async function listDisks(dir: string): Promise<string[]> {
  const found = await readdir(dir).catch(() => []); // an operator may delete the directory while the agent runs
  return found.filter((name) => Sha256.safeParse(name).success).map((name) => join(dir, name));
}

async function readFacts(dir: string): Promise<z.infer<typeof Facts>> {
  const facts = Facts.parse(JSON.parse(await readFile(join(dir, factsName), "utf8")));
  if (facts.boot !== (await bootId())) throw new Error("the host may have restarted before it was written");
  if (JSON.stringify(facts.sizes) !== JSON.stringify(await sizesIn(dir))) throw new Error("a file has another size");
  return facts;
}

async function writeFacts(dir: string, { entries, files, index, shared, services }: ScannedStore): Promise<void> {
  const digests = { files: files.digests, index: index.digests };
  const facts = { boot: await bootId(), entries, ...digests, shared, services, sizes: await sizesIn(dir) };
  await writeFile(join(dir, factsName), JSON.stringify(facts));
}

async function sizesIn(dir: string): Promise<Record<string, number>> {
  const sizes = Object.values(names).map(async (name) => [name, (await stat(join(dir, name))).size] as const);
  return Object.fromEntries(await Promise.all(sizes));
}

function storeIn(workDir: string, { entries, files, index, shared, services }: z.infer<typeof Facts>): ScannedStore {
  const file = (fileName: string, digests: UploadFile["digests"]): UploadFile => ({
    path: join(workDir, fileName),
    fileName,
    digests,
  });
  return { entries, shared, services, files: file(names.files, files), index: file(names.index, index) };
}

async function clear(target: string, workDir: string): Promise<void> {
  const halves = [names.image, names.packages].map((name) => join(target, name));
  const others = [names.files, names.index].map((name) => join(workDir, name));
  await Promise.all([...halves, ...others].map((path) => rm(path, { force: true })));
}
