import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes, the longest first: started last, they would run alone at the end. */
const longest = [
  "guest-build.test.ts",
  "guest-formats.test.ts",
  "debian-image.test.ts",
  "action.test.ts",
  "main-job.test.ts",
  "faults.test.ts",
  "formats.test.ts",
  "testdrive-network.test.ts",
  "configuration-image.test.ts",
  "builds.test.ts",
  "agent-build.test.ts",
  "launcher.test.ts",
  "uefi-medium.test.ts",
].map((name) => `/test/acceptance/${name}`);

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
