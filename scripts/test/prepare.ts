import { bundleWorker } from "../launch/bundle.ts";
import { installHostPackages, type Purpose } from "../launch/host-packages.ts";
import { warn } from "../launch/progress.ts";
import { buildSampleDistribution, findSampleDistribution } from "../launch/sample-distribution.ts";

/** Brings what the tests need the way npm start does, and gives the environment that tells them where it is. */
export async function prepareForTests({ isFast }: { isFast: boolean }): Promise<NodeJS.ProcessEnv> {
  const found = await findSampleDistribution();
  const purposes: Purpose[] = [
    "tests",
    "solver",
    "oem",
    "iso",
    "testdrives",
    ...(found ? [] : ["sample-distribution" as const]),
  ];
  const missing = await installHostPackages(purposes);
  if (missing.length > 0) warn("Tests that need what is missing will fail.");
  // The fast tests make no image, so they can do without.
  const sample = found ?? (isFast ? undefined : await buildSampleDistribution());
  await bundleWorker();
  return { ...process.env, ...(sample && { KILN_SAMPLE_DISTRIBUTION: sample.path }) };
}
