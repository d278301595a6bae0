import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files of each project, the slowest first. If they were started last, they would run alone at the end. */
const longest = [
  "test/scripts/simulated-mistakes.test.ts",
  "builder-agent/test/main.test.ts",
  "test/scripts/rebuild-by-strangers.test.ts",
  "builder-agent/test/checks/check-guest.test.ts",
  "test/scripts/simulation.test.ts",
  "test/scripts/open-disk.test.ts",
  "test/agent-api/failing-testdrive-storage.test.ts",
  "test/api/every-call.test.ts",
  "test/api/failing-storage.test.ts",
  "test/objects/guest-web.test.ts",
  "test/agent-api/failing-storage.test.ts",
  "test/acceptance/guest-build.test.ts",
  "test/acceptance/guest-formats.test.ts",
  "test/acceptance/debian-image.test.ts",
  "test/acceptance/agent-build.test.ts",
  "test/acceptance/uefi-medium.test.ts",
  "test/acceptance/formats.test.ts",
  "test/acceptance/configuration-image.test.ts",
  "test/acceptance/builds.test.ts",
  "test/acceptance/forgeries.test.ts",
  "test/acceptance/action.test.ts",
  "test/acceptance/faults.test.ts",
  "test/acceptance/launcher.test.ts",
  "test/acceptance/checks.test.ts",
  "test/acceptance/command-line.test.ts",
  "test/acceptance/documented-commands.test.ts",
  "test/acceptance/main-job.test.ts",
  "test/acceptance/rebuilds.test.ts",
  "test/acceptance/build-page.test.ts",
  "test/acceptance/pages.test.ts",
  "test/acceptance/testdrive-network.test.ts",
  "test/acceptance/story.test.ts",
].map((path) => `/${path}`);

function placeOf({ moduleId }: TestSpecification): number {
  const found = longest.findIndex((name) => moduleId.endsWith(name));
  return found === -1 ? longest.length : found;
}

/** Uses vitest's own order for all other files, because a fresh clone has no times of earlier runs. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's sort, not an array's
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
