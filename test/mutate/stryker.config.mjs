import { excludedMutations } from "../../scripts/mutate/mutants.ts";

// `npm run mutate:all` tries every mutant of the code whose tests run in Node, in their own process (decision 54).
export default {
  testRunner: "vitest",
  vitest: { configFile: "test/mutate/vitest.config.ts" },
  mutate: ["src/lib/{attest,kiwi,repodata,wire}/**/*.ts", "builder-agent/src/**/*.ts"],
  mutator: { excludedMutations },
  coverageAnalysis: "perTest",
  concurrency: 1,
  reporters: ["clear-text"],
  clearTextReporter: { allowColor: false, reportTests: false },
  tsconfigFile: "none", // TypeScript 7 has no API for Stryker's rewriting, and vitest needs none
  tempDirName: ".kiln/stryker",
  ignorePatterns: ["/.kiln", "/dist", "/bench", "/docs"],
  allowEmpty: true,
};
