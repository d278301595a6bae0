import { impossible, installHostPackages, isDebian, type Purpose } from "./host-packages.ts";
import { warn } from "./progress.ts";
import { buildSampleDistribution, type SampleDistribution } from "./sample-distribution.ts";

export type PreparedHost = {
  /** undefined: this machine cannot make it. */
  sample: SampleDistribution | undefined;
  /** Whether an agent on this machine could do anything at all. */
  canBuild: boolean;
};

/** Installs what this machine lacks, and makes the sample distribution; says plainly what will not work without. */
export async function prepareHost(
  { withAgent }: { withAgent: boolean },
  found: SampleDistribution | undefined,
  signal: AbortSignal,
): Promise<PreparedHost> {
  const forAgent: Purpose[] = withAgent ? ["oem", "iso", "testdrives"] : [];
  const extras: Purpose[] = withAgent ? ["UEFI disks", "UEFI media"] : [];
  const purposes: Purpose[] = [...forAgent, ...extras, ...(found ? [] : ["sample-distribution" as const])];
  const lacking = impossible(await installHostPackages(purposes, signal), purposes);
  for (const purpose of lacking) warn(`Without them there will be no ${purpose} on this machine.`);
  const canMakeSample = isDebian() && !lacking.includes("sample-distribution");
  const sample = found ?? (canMakeSample ? await buildSampleDistribution(signal) : undefined);
  if (!sample) warn("The templates of Tiny Linux are there, but without its packages nothing can be built from them.");
  return { sample, canBuild: forAgent.some((purpose) => !lacking.includes(purpose)) };
}
