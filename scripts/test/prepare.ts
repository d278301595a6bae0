import { bundleWorker, isBundled } from "../launch/bundle.ts";
import { installHostPackages, type Purpose } from "../launch/host-packages.ts";
import { warn } from "../launch/progress.ts";
import { buildSampleDistribution, findSampleDistribution } from "../launch/sample-distribution.ts";

/** The environment variables of the tests. */
export interface TestEnvironments {
  /** For the Worker's tests, which need only its bundle. */
  env: NodeJS.ProcessEnv;
  /** For all other tests, which also need the host packages and the sample distribution. */
  withSample: Promise<NodeJS.ProcessEnv>;
}

/**
 * Prepares everything that the tests need, like npm start. The host packages and the sample distribution may still be
 * in progress afterwards.
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
  const installed = installOrWarn(purposes);
  installed.catch(() => {}); // the code that awaits withSample gets the error
  if (!isBundled()) await installed; // the bundle's solver is compiled by some of them
  await bundleWorker();
  const env = { ...process.env, ...(found && sampleAt(found.path)) };
  // The fast tests build no image, so they do not need it.
  const withSample = installed.then(() => (found || isFast ? env : addNewSample(env)));
  withSample.catch(() => {}); // the code that awaits it gets the error
  return { env, withSample };
}

async function installOrWarn(purposes: readonly Purpose[]): Promise<void> {
  const missing = await installHostPackages(purposes);
  if (missing.length > 0) warn("Tests that need the missing packages will fail.");
}

const sampleAt = (path: string) => ({ KILN_SAMPLE_DISTRIBUTION: path });

const addNewSample = async (env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> => ({
  ...env,
  ...sampleAt((await buildSampleDistribution()).path),
});
