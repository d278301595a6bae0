import { isBundled } from "./bundle.ts";
import { impossible, installHostPackages, purposesOfArm64, isDebian, type Purpose } from "./host-packages.ts";
import type { LaunchOptions } from "./options.ts";
import { warn } from "./progress.ts";
import { buildSampleDistribution, type SampleDistribution } from "./sample-distribution.ts";

/** Builds need root. The agent of another user only runs testdrives. */
export const isRoot = (): boolean => process.getuid?.() === 0;

const forBuilds: Purpose[] = ["oem", "iso"];
const forAgent = (): Purpose[] => (isRoot() ? [...forBuilds, "testdrives"] : ["testdrives"]);
const extrasOfBuilds: Purpose[] = ["UEFI disks", "UEFI media", "xfs disks", "btrfs disks", "deb", "fast packing"];
const extrasOfTestdrives: Purpose[] = ["sandbox of testdrives", "Secure Boot of testdrives"];
const extras = (): Purpose[] => [...(isRoot() ? extrasOfBuilds : []), ...extrasOfTestdrives];

/**
 * Installs all missing packages for a start, including the compiler of the Worker's solver if the Worker must be
 * bundled. One run of apt takes half the time of two. Warns about everything that will not work, and returns it.
 */
export async function preparePackages(
  { withAgent, added }: Pick<LaunchOptions, "withAgent" | "added">,
  found: SampleDistribution | undefined,
  signal: AbortSignal,
): Promise<readonly Purpose[]> {
  const purposes: Purpose[] = [
    ...(withAgent ? [...forAgent(), ...extras()] : []),
    ...(withAgent && added.includes("arm64") ? purposesOfArm64 : []),
    ...(found ? [] : ["sample-distribution" as const]),
  ];
  // Without the compiler, bundling fails with its own message.
  const compiler: Purpose[] = isBundled() ? [] : ["solver"];
  const lacking = impossible(await installHostPackages([...purposes, ...compiler], signal), purposes);
  for (const purpose of lacking) warn(`Without these packages, there is no ${purpose} on this machine.`);
  return lacking;
}

/** Whether an agent on this machine could do anything. */
export const canBuild = (lacking: readonly Purpose[]): boolean =>
  forAgent().some((purpose) => !lacking.includes(purpose));

/** Builds the sample distribution, unless it was found. Undefined if this machine cannot build it. */
export async function prepareSample(
  found: SampleDistribution | undefined,
  lacking: readonly Purpose[],
  signal: AbortSignal,
): Promise<SampleDistribution | undefined> {
  const canMakeSample = isDebian() && !lacking.includes("sample-distribution");
  const sample = found ?? (canMakeSample ? await buildSampleDistribution(signal) : undefined);
  if (!sample) warn("The Tiny Linux templates cannot be built, because the packages of Tiny Linux are missing.");
  return sample;
}
