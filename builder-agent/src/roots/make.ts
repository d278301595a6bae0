import { availableParallelism } from "node:os";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { takeKernel } from "../guest/kernel.ts";
import { outputOf } from "../process.ts";
import { RootFault, type RootDefinition } from "./definition.ts";
import { fetchIndex, fetchKnown } from "./fetch.ts";
import { factsInside, kernelInside, neededPackages, wantedPackages } from "./contents.ts";
import type { DebPackage } from "./packages-index.ts";
import { resolveRoot } from "./resolve.ts";
import { openRootWork, storeRoot, type RootFacts, type RootRelease, type StoredRoot } from "./store.ts";
import { unpackPackages } from "./unpack.ts";

export interface RootMaking {
  stateDir: string;
  /** Whether an expired index may be used. */
  acceptExpired: boolean;
  signal: AbortSignal;
  say: (line: string) => void;
}

/** The kernel of guests, and the program in their initial RAM disk. */
const guestPackages = ["linux-image-cloud-amd64", "busybox-static"];
const downloadsAtOnce = 6;

/** Makes a root of the newest packages in the definition's suites, and stores it. */
export async function makeRoot(definition: RootDefinition, making: RootMaking): Promise<StoredRoot> {
  const { stateDir, signal, say } = making;
  await using work = await openRootWork(stateDir);
  const { index, releases } = await fetchIndex(definition, { ...making, workDir: work.path });
  const wanted = [...wantedPackages, ...guestPackages, ...definition.packages];
  const { packages, missing } = resolveRoot(wanted, index);
  refuseMissing(definition, missing);
  const bytes = packages.reduce((sum, one) => sum + one.size, 0);
  say(
    `${packages.length} packages, ${Math.round(bytes / 1e6)} MB, from ${releases.map(({ suite }) => suite).join(", ")}`,
  );
  const files = await fetchPackages(packages, { dir: join(work.path, "packages"), signal });
  say("unpacking");
  const tree = join(work.path, "tree");
  await unpackPackages(files, tree, { parallel: availableParallelism(), signal });
  await rm(join(work.path, "packages"), { recursive: true });
  const kernel = await moveKernel(tree, work.path);
  const facts = factsOf(definition, { packages, releases, kernel });
  await writeFile(join(tree, factsInside), `${JSON.stringify(facts, undefined, 1)}\n`);
  say("packing");
  const squashfs = join(work.path, "root.squashfs");
  await pack(tree, squashfs, { releases, signal });
  return await storeRoot(stateDir, work, squashfs);
}

function refuseMissing({ name, packages }: RootDefinition, missing: readonly string[]): void {
  const needed = [...neededPackages, ...guestPackages, ...packages];
  const lacking = missing.filter((each) => needed.includes(each));
  if (lacking.length > 0) throw new RootFault(`No suite of ${name} has ${lacking.join(", ")}.`);
}

async function fetchPackages(packages: readonly DebPackage[], { dir, signal }: { dir: string; signal: AbortSignal }) {
  await mkdir(dir);
  const waiting = [...packages];
  const worker = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      await fetchKnown({ ...one, url: `${one.url}/${one.path}` }, join(dir, basename(one.path)), signal);
    }
  };
  await Promise.all(Array.from({ length: downloadsAtOnce }, worker));
  return packages.map(({ path }) => join(dir, basename(path)));
}

/** Reduces the kernel in the tree to the modules that builds need, and puts it where guests expect it. */
async function moveKernel(tree: string, workDir: string): Promise<string> {
  await mkdir(join(tree, "usr/lib/kiln"), { recursive: true });
  const modulesDir = join(workDir, "modules");
  const { version } = await takeKernel(tree, { vmlinuz: join(tree, kernelInside), modulesDir });
  await rm(join(tree, "usr/lib/modules"), { recursive: true, force: true });
  await cp(join(modulesDir, "lib"), join(tree, "usr/lib"), { recursive: true });
  await rm(join(tree, "boot"), { recursive: true, force: true });
  return version;
}

function factsOf(
  { name, title }: RootDefinition,
  { packages, releases, kernel }: { packages: readonly DebPackage[]; releases: RootRelease[]; kernel: string },
): RootFacts {
  const kiwi = packages.find((one) => one.name === "kiwi")?.version ?? "";
  return {
    formatVersion: 1,
    name,
    title,
    builder: /\d+(?:\.\d+)+/.exec(kiwi)?.[0] ?? "none",
    kernel,
    releases,
    packages: packages.map(({ name, version, architecture, sha256, suite }) => {
      return { name, version, architecture, sha256, suite };
    }),
  };
}

/** Packs the tree. The same packages give the same file, because all times are that of the newest index. */
async function pack(
  tree: string,
  into: string,
  { releases, signal }: { releases: readonly RootRelease[]; signal: AbortSignal },
): Promise<void> {
  const time = Math.floor(Math.max(...releases.map(({ date }) => Date.parse(date))) / 1000);
  const times = ["-mkfs-time", `${time}`, "-all-time", `${time}`];
  const options = ["-comp", "lz4", "-all-root", "-no-xattrs", "-no-exports", "-no-progress", "-quiet"];
  await outputOf("mksquashfs", [tree, into, ...options, ...times], signal);
}
