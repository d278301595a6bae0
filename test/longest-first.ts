import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest in their project, the longest first: started last, they would run alone at the end. */
const longest = [
  "agent-api/failing-testdrive-storage.test.ts",
  "api/every-call.test.ts",
  "api/failing-storage.test.ts",
  "objects/guest-web.test.ts",
  "agent-api/failing-storage.test.ts",
  "acceptance/guest-build.test.ts",
  "acceptance/guest-formats.test.ts",
  "acceptance/debian-image.test.ts",
  "acceptance/agent-build.test.ts",
  "acceptance/uefi-medium.test.ts",
  "acceptance/formats.test.ts",
  "acceptance/configuration-image.test.ts",
  "acceptance/builds.test.ts",
  "acceptance/forgeries.test.ts",
  "acceptance/action.test.ts",
  "acceptance/faults.test.ts",
  "acceptance/launcher.test.ts",
  "acceptance/checks.test.ts",
  "acceptance/command-line.test.ts",
  "acceptance/documented-commands.test.ts",
  "acceptance/main-job.test.ts",
  "acceptance/rebuilds.test.ts",
  "acceptance/build-page.test.ts",
  "acceptance/pages.test.ts",
  "acceptance/testdrive-network.test.ts",
  "acceptance/story.test.ts",
].map((path) => `/test/${path}`);

function placeOf({ moduleId }: TestSpecification): number {
  const found = longest.findIndex((name) => moduleId.endsWith(name));
  return found === -1 ? longest.length : found;
}

/** vitest's own order, except for these: a fresh clone has no times of earlier runs. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's sort, not an array's
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
