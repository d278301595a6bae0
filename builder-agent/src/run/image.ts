import type { FrozenInput, Phase } from "../contract.ts";
import { guestKiwi, type GuestKiwi } from "../guest/guest-kiwi.ts";
import { checkTrust } from "../packages/check-trust.ts";
import { writeDebRepository } from "../packages/deb-repository.ts";
import type { Reach } from "../packages/mirror.ts";
import type { PackageCache } from "../packages/package-cache.ts";
import { fetchPackages, type PackageFetch } from "../packages/package-files.ts";
import type { BaseShare } from "../prepared/base-share.ts";
import type { PackageStore } from "../packages/stored-packages.ts";
import type { RootShare } from "../prepared/share.ts";
import type { StoredRoot } from "../roots/store.ts";
import { bareKiwi } from "./bare-kiwi.ts";
import { addLicencesAndSources } from "./debian-licences.ts";
import type { KiwiJob } from "./kiwi-runner.ts";
import { makeKiwiPaths, type KiwiPaths } from "./kiwi.ts";
import { machineOf, type Machine } from "./machine.ts";
import { fetchContents, writeKeys } from "./overlay.ts";
import { getParts, readResult, type KiwiResult } from "./result.ts";
import type { RootTree } from "./root-walk.ts";
import { writeDescription } from "./source.ts";
import { reproducibleSeed } from "./reproducible.ts";
import { refuseDatabase, refuseVolumes } from "./refusals.ts";

export interface ImageBuild extends Pick<PackageFetch, "onStoredCopy" | "advice"> {
  /** KIWI NG's program on this host. */
  kiwi: string;
  /** KIWI's version. Default: the version in the builder root, or else an old one. */
  builder?: string;
  /** If given, KIWI and its tools come from this root. */
  builderRoot?: StoredRoot | undefined;
  /** If given, KIWI runs in a guest. */
  guest?: GuestKiwi | undefined;
  workDir: string;
  /** If given, builds share their roots. */
  share?: RootShare | undefined;
  /** If given, a Debian root starts from one with some of its packages. */
  base?: BaseShare | undefined;
  /** See KiwiJob. */
  storeAhead?: KiwiJob["storeAhead"];
  reach: Reach;
  packageCache?: PackageCache | undefined;
  /** Packages that the service stores for builds. */
  stored?: PackageStore | undefined;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
  /** Called with the fraction of the phase that is done. */
  onProgress: (fraction: number) => void;
}

/** KIWI's image, and the tree that it was made from. */
export type BuiltImage = KiwiResult & {
  root: RootTree;
  /** The virtual machine that the image is described for. */
  machine: Machine;
  sourceDate?: number | undefined;
  /**
   * Determines the identifiers that would otherwise be new in each build. Undefined for an input of an older Worker.
   */
  seed?: string | undefined;
};

/** Makes the image of a frozen input on this disk. Calls the Worker only for repositories that it serves. */
export async function buildImage(input: FrozenInput, build: ImageBuild): Promise<BuiltImage> {
  const runner = build.guest ? guestKiwi({ ...build.guest, builderRoot: build.builderRoot }) : bareKiwi(build);
  // A guest has its own kernel, with a device mapper.
  if (!build.guest) refuseVolumes(input);
  // If builds run in guests, this host never runs the rpm of a builder root.
  if (!build.builderRoot || !build.guest) await refuseDatabase(input, build);
  const paths = await makeKiwiPaths(build.workDir, input, build.builder ?? build.builderRoot?.facts.builder);
  await writeDescription(input, paths.description, runner.repository(paths));
  build.onPhase("Preparing the build");
  const keys = input.packageType === "deb" ? [] : await writeKeys(input, paths.keys);
  const fetch = () => fetchAll(input, paths, build);
  const root = await runner.run({ ...build, input, paths, keys, fetch });
  if (input.packageType === "deb")
    await addLicencesAndSources((await getParts(paths.target, input.imageType)).packages, root, build.signal);
  const result = await readResult(paths.target, input.imageType, input.packageType);
  return { ...result, root, ...packingOf(input) };
}

/** The parts of the input that packing needs. */
export const packingOf = (input: FrozenInput): Pick<BuiltImage, "machine" | "sourceDate" | "seed"> => ({
  machine: machineOf(input),
  sourceDate: input.sourceDate,
  ...(input.sourceDate !== undefined && { seed: reproducibleSeed(input) }),
});

/** Fetches everything that is needed to prepare a root. */
async function fetchAll(input: FrozenInput, paths: KiwiPaths, build: ImageBuild): Promise<void> {
  await fetchContents({ ...build, input, description: paths.description });
  await fetchPackages({ ...build, input, dir: paths.packages });
  await checkTrust({ ...build, input, dir: paths.packages });
  build.stored?.give?.(input, paths.packages);
  if (input.packageType === "deb") await writeDebRepository(input, paths.packages);
}
