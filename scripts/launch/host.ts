import { impossible, installHostPackages, isDebian, type Purpose } from "./host-packages.ts";
import { warn } from "./progress.ts";
import { buildSampleDistribution, type SampleDistribution } from "./sample-distribution.ts";

export type PreparedHost = {
  /** undefined: this machine cannot build it. */
  sample: SampleDistribution | undefined;
  /** Whether an agent on this machine could do anything. */
  canBuild: boolean;
};

/** Installs missing packages and builds the sample distribution. Warns about everything that will not work. */
export async function prepareHost(
  { withAgent }: { withAgent: boolean },
  found: SampleDistribution | undefined,
  signal: AbortSignal,
): Promise<PreparedHost> {
  const forAgent: Purpose[] = withAgent ? ["oem", "iso", "testdrives"] : [];
  const extras: Purpose[] = withAgent
    ? ["UEFI disks", "UEFI media", "deb", "enclosure of testdrives", "fast packing"]
    : [];
  const purposes: Purpose[] = [...forAgent, ...extras, ...(found ? [] : ["sample-distribution" as const])];
  const lacking = impossible(await installHostPackages(purposes, signal), purposes);
  for (const purpose of lacking) warn(`Without these packages, there is no ${purpose} on this machine.`);
  const canMakeSample = isDebian() && !lacking.includes("sample-distribution");
  const sample = found ?? (canMakeSample ? await buildSampleDistribution(signal) : undefined);
  if (!sample) warn("The Tiny Linux templates cannot be built, because the packages of Tiny Linux are missing.");
  return { sample, canBuild: forAgent.some((purpose) => !lacking.includes(purpose)) };
}
