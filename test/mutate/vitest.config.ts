import { defineConfig } from "vitest/config";

/** For Stryker: the tests that run in Node and start the code in their own process. */
export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  test: {
    provide: { propertySeed: 1 },
    include: ["test/{attest,kiwi,repodata,wire}/**/*.test.ts", "builder-agent/test/**/*.test.ts"],
    // These need workerd.
    exclude: ["configuration-matrix", "into-libsolv", "read-json"].map((name) => `test/*/${name}.test.ts`),
    testTimeout: 300_000,
  },
});
