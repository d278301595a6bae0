import { createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Sha256, type FrozenInput } from "../contract.ts";
import { DiskCache, diskUse, type CacheLimits } from "../disk-cache.ts";
import { sha256OfFile } from "../file-hash.ts";

/** Archives of Debian roots with packages only, from which builds with more packages start (decision 29). */
export interface BaseRoots {
  /**
   * Finds the base with the most of the input's packages, and no others, and links it as `into` on the same disk.
   * Undefined if there is none.
   */
  take(wanted: Wanted, into: string): Promise<BaseRoot | undefined>;
  /** Stores an archive that is on the same disk and complete. */
  put(made: Wanted, file: string): Promise<void>;
  forget(base: BaseRoot): Promise<void>;
  /** Removes all bases. */
  free(): Promise<void>;
}

interface Wanted {
  input: FrozenInput;
  /** The `builder` of Preparer (key.ts). */
  builder: string;
}

export interface BaseRoot {
  name: string;
  /** The checksums of its packages. */
  checksums: readonly string[];
}

const archiveName = "root.tar.zst";
const factsName = "facts.json";
/** `context` is a digest of everything else that must be the same. `packages` are their checksums. */
const Facts = z.object({ context: Sha256, packages: z.array(Sha256), archive: Sha256 });

/** Increase it when the layout of the archive, or the way to make it, changes. */
const generation = 1;

/**
 * A base is a directory, named by its key. It belongs to one appliance, because packages make secrets during
 * installation (bind9 makes rndc.key), and because scripts of the account's own packages have run in it.
 */
export async function openBaseRoots(dir: string, limits: CacheLimits): Promise<BaseRoots> {
  const list = async () => (await namesIn(dir)).map((name) => join(dir, name));
  const cache = await DiskCache.open({ dir, limits, list, sizeOf: diskUse, index: "disk" });
  return {
    async take(wanted, into) {
      await cache.evict();
      const best = await bestOf(dir, wanted);
      if (!best) return undefined;
      const path = join(dir, best.name);
      try {
        await link(join(path, archiveName), into);
        if ((await sha256OfFile(into)) !== best.archive) throw new Error("the archive is damaged");
      } catch {
        await Promise.all([cache.remove(path), rm(into, { force: true })]);
        return undefined;
      }
      await cache.touch(path);
      return { name: best.name, checksums: best.packages };
    },
    async put(made, file) {
      const facts = { ...factsOf(made), archive: await sha256OfFile(file) };
      const slot = cache.incoming("base");
      await mkdir(slot);
      await link(file, join(slot, archiveName));
      await writeFile(join(slot, factsName), JSON.stringify(facts));
      await cache.publish(slot, join(dir, hashOf([facts.context, ...facts.packages])));
    },
    forget: ({ name }) => cache.remove(join(dir, name)),
    free: () => cache.free(Infinity),
  };
}

// An operator may delete the directory while the agent runs.
const namesIn = async (dir: string): Promise<string[]> =>
  (await readdir(dir).catch(() => [])).filter((name) => Sha256.safeParse(name).success);

async function bestOf(dir: string, wanted: Wanted) {
  const { context, packages } = factsOf(wanted);
  const known = new Set(packages);
  const all = await Promise.all((await namesIn(dir)).map((name) => readFacts(dir, name)));
  return all
    .flatMap((facts) => (facts?.context === context && facts.packages.every((one) => known.has(one)) ? [facts] : []))
    .toSorted((a, b) => b.packages.length - a.packages.length)[0];
}

async function readFacts(dir: string, name: string) {
  try {
    return { name, ...Facts.parse(JSON.parse(await readFile(join(dir, name, factsName), "utf8"))) };
  } catch {
    return undefined; // damaged, or just deleted
  }
}

function factsOf({ input: { appliance, debRelease, description, packages }, builder }: Wanted) {
  const script = description["post_bootstrap.sh"] ?? "";
  return {
    context: hashOf([String(generation), builder, String(appliance.id), appliance.arch, debRelease ?? "", script]),
    packages: packages.map(({ checksum }) => checksum.value).toSorted(),
  };
}

const hashOf = (parts: readonly string[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
