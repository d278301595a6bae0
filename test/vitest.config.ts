import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import type { Vite } from "vitest/node";
import { guestTests, notRun } from "../scripts/test/guests.ts";
import LongestFirst from "./longest-first.ts";

const root = new URL("..", import.meta.url).pathname;

// The launcher generates these for a real service. In tests they need not be secret.
const secrets = {
  ADMIN_SECRET: "test-admin-secret",
  API_KEY_PEPPER: "test-pepper",
  API_KEY_ENCRYPTION_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  GATEWAY_TOKEN: "test-gateway-token",
  AGENT_TOKEN: "test-agent-token",
  ATTESTATION_KEY: "MC4CAQAwBQYDK2VwBCIEIHyTglugB7FQrrplVHWq+nElW9voqX2pn8YF9VIXAwMu",
};

/** wrangler looks for required secrets only in the environment, and warns about missing ones. */
function giveSecrets(): void {
  Object.assign(process.env, secrets);
  process.env["WRANGLER_LOG"] ??= "warn"; // otherwise, it prints the location of the secrets at each start
}

/**
 * vitest caches a transformed module on disk under its source, with the resolved imports. A .wasm is built later than its
 * importer is written, so an importer that was cached without it would stay broken forever.
 */
const neverStoreImportersOfWasm: Vite.Plugin = {
  name: "kiln:never-store-importers-of-wasm",
  configureVitest: ({ defineCacheKeyGenerator }) =>
    defineCacheKeyGenerator(({ sourceCode }) => (sourceCode.includes(".wasm") ? false : undefined)),
};

/** The seed of property tests. CI sets one. Other runs choose one and print it, so that the run can be repeated. */
function propertySeed(): number {
  const given = process.env["KILN_PROPERTY_SEED"];
  if (given) return Number(given);
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.env["KILN_PROPERTY_SEED"] = String(seed); // vitest reads this file once for each project
  console.log(`Property tests: KILN_PROPERTY_SEED=${seed}`);
  return seed;
}

/**
 * No test measures time, so the limit only ends a test that hangs. A busy machine took 15 times as long as an idle one.
 */
const patience = { testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: { timeout: 120_000 } } };

/** How many images the test of advisories compares with how many advisories: 10000x500 takes minutes. */
function advisoryPairs(): { images: number; advisories: number } {
  const [images = 60, advisories = 80] = (process.env["KILN_ADVISORY_PAIRS"] ?? "60x80").split("x").map(Number);
  return { images, advisories };
}

giveSecrets();
const provide = { propertySeed: propertySeed(), advisoryPairs: advisoryPairs() };

/** Counts everything that the service uses, so it needs its own workerd: other files leave alarms behind. */
const alone = "test/meter/**";

/** Tests that run in workerd. All files share one. */
const inWorkerd = (name: string, files: { include: string[]; exclude?: string[] }) => ({
  root,
  plugins: [
    neverStoreImportersOfWasm,
    cloudflareTest(async () => ({
      wrangler: { configPath: `${root}wrangler.toml` },
      // Otherwise workerd logs each aborted request, and each object that a reset ends.
      verbose: false,
      miniflare: {
        bindings: {
          // vitest uses MODE itself, and wrangler prefers the environment to [vars].
          MODE: "embedded",
          MAX_BUILDS: "1000",
          TESTDRIVE_ORIGIN: "https://guests.test",
          MAX_TESTDRIVES: "1000",
          TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
        },
        // Two databases, as on Cloudflare.
        d1Databases: { DB: "kiln", PACKAGES: "kiln-packages" },
        outboundService: (request: Request) =>
          new Response(`no network in tests: ${request.url}`, { status: 599 }) as never,
      },
    })),
  ],
  test: {
    name,
    provide,
    // Each worker has its own workerd, which is never idle.
    maxWorkers: availableParallelism(),
    // Otherwise, if a Durable Object logs a line at the moment when its file ends, the line waits forever for an
    // answer, and so does the run: https://github.com/cloudflare/workers-sdk/issues/15719.
    disableConsoleIntercept: true,
    isolate: false,
    ...files,
    ...patience,
    setupFiles: ["test/setup.ts"],
  },
});

/** Tests that send HTTP requests to a whole service. */
const overHttp = {
  globalSetup: ["test/acceptance/support/shared-services.ts"],
  setupFiles: ["test/acceptance/support/closed-connections.ts"],
};

export default defineConfig({
  root,
  test: {
    sequence: { sequencer: LongestFirst },
    // Many tests cause a 500, which the service logs. If it is not expected, the test fails anyway.
    onConsoleLog: (text) => !/^\S+ request requestId=/.test(text),
    projects: [
      inWorkerd("worker", {
        include: ["test/**/*.test.ts"],
        exclude: ["test/acceptance/**", "test/scripts/**", alone],
      }),
      inWorkerd("worker-alone", { include: [`${alone}/*.test.ts`] }),
      {
        root,
        test: {
          name: "node",
          provide,
          isolate: false,
          // Most of these wait for processes. If this number differs, vitest requires another group.
          maxWorkers: 2 * availableParallelism(),
          sequence: { groupOrder: 1 },
          include: ["builder-agent/test/**/*.test.ts", "cli/test/**/*.test.ts", "test/scripts/**/*.test.ts"],
          ...patience,
        },
      },
      {
        root,
        test: {
          name: "acceptance",
          include: ["test/acceptance/**/*.test.ts"],
          exclude: guestTests,
          ...overHttp,
          // Real builds: while one file waits, another can use the processor.
          maxWorkers: 2,
          ...patience,
          testTimeout: 1_200_000,
          hookTimeout: 600_000,
        },
      },
      {
        root,
        test: {
          name: "guests",
          include: guestTests,
          ...overHttp,
          exclude: (process.env[notRun] ?? "").split(",").filter(Boolean),
          // Whole builds in emulated machines: each uses a processor for minutes.
          maxWorkers: 2,
          testTimeout: 4_000_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
