import { isBundled } from "./bundle.ts";
import { impossible, installHostPackages, isDebian, type Purpose } from "./host-packages.ts";
import { warn } from "./progress.ts";
import { buildSampleDistribution, type SampleDistribution } from "./sample-distribution.ts";

const forAgent: Purpose[] = ["oem", "iso", "testdrives"];
const extras: Purpose[] = ["UEFI disks", "UEFI media", "deb", "sandbox of testdrives", "fast packing"];

/**
 * Installs everything that is missing for a start in one run of apt, which takes half the time of two: also the compiler of the
 * Worker's solver, if the Worker must be bundled. Warns about everything that will not work, and returns that.
 */
export async function preparePackages(
  { withAgent }: { withAgent: boolean },
  found: SampleDistribution | undefined,
  signal: AbortSignal,
): Promise<readonly Purpose[]> {
  const purposes: Purpose[] = [
    ...(withAgent ? [...forAgent, ...extras] : []),
    ...(found ? [] : ["sample-distribution" as const]),
  ];
  // Without its compiler, the bundle fails and says why.
  const compiler: Purpose[] = isBundled() ? [] : ["solver"];
  const lacking = impossible(await installHostPackages([...purposes, ...compiler], signal), purposes);
  for (const purpose of lacking) warn(`Without these packages, there is no ${purpose} on this machine.`);
  return lacking;
}

/** Whether an agent on this machine could do anything. */
export const canBuild = (lacking: readonly Purpose[]): boolean =>
  forAgent.some((purpose) => !lacking.includes(purpose));

/** Builds the sample distribution, unless it was found. Undefined: this machine cannot build it. */
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
