import { bundleWorker } from "../launch/bundle.ts";
import { installHostPackages, type Purpose } from "../launch/host-packages.ts";
import { warn } from "../launch/progress.ts";
import { buildSampleDistribution, findSampleDistribution } from "../launch/sample-distribution.ts";

/** The environment variables of the tests. */
export interface TestEnvironments {
  /** For tests that need no packages. */
  env: NodeJS.ProcessEnv;
  withSample: Promise<NodeJS.ProcessEnv>;
}

/**
 * Prepares everything that the tests need, like npm start. The sample distribution may still be in progress afterwards.
 */
export async function prepareForTests({ isFast }: { isFast: boolean }): Promise<TestEnvironments> {
  const found = await findSampleDistribution();
  const purposes: Purpose[] = [
    "tests",
    "solver",
    "oem",
    "iso",
    "deb",
    "testdrives",
    "fast packing",
    ...(found ? [] : ["sample-distribution" as const]),
  ];
  const missing = await installHostPackages(purposes);
  if (missing.length > 0) warn("Tests that need the missing packages will fail.");
  await bundleWorker();
  const env = { ...process.env, ...(found && sampleAt(found.path)) };
  // The fast tests build no image, so they do not need it.
  const withSample = found || isFast ? Promise.resolve(env) : addNewSample(env);
  withSample.catch(() => {}); // the code that awaits it gets the error
  return { env, withSample };
}

const sampleAt = (path: string) => ({ KILN_SAMPLE_DISTRIBUTION: path });

const addNewSample = async (env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> => ({
  ...env,
  ...sampleAt((await buildSampleDistribution()).path),
});
