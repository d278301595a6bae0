import { bundleWorker } from "../launch/bundle.ts";
import { installHostPackages, type Purpose } from "../launch/host-packages.ts";
import { warn } from "../launch/progress.ts";
import { buildSampleDistribution, findSampleDistribution } from "../launch/sample-distribution.ts";

/** What tells the tests where things are. */
export interface TestEnvironments {
  /** For those that look at no package. */
  env: NodeJS.ProcessEnv;
  withSample: Promise<NodeJS.ProcessEnv>;
}

/** Brings what the tests need the way npm start does; the sample distribution may still be in the making then. */
export async function prepareForTests({ isFast }: { isFast: boolean }): Promise<TestEnvironments> {
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
  await bundleWorker();
  const env = { ...process.env, ...(found && sampleAt(found.path)) };
  // The fast tests make no image, so they can do without.
  const withSample = found || isFast ? Promise.resolve(env) : addNewSample(env);
  withSample.catch(() => {}); // thrown where it is waited for
  return { env, withSample };
}

const sampleAt = (path: string) => ({ KILN_SAMPLE_DISTRIBUTION: path });

const addNewSample = async (env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> => ({
  ...env,
  ...sampleAt((await buildSampleDistribution()).path),
});
