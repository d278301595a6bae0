/** fast-check for property tests, with the seed of the run: see propertySeed in test/vitest.config.ts. */
// oxlint-disable-next-line no-restricted-imports -- the one place
import { configureGlobal } from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    propertySeed: number;
  }
}

configureGlobal({ seed: inject("propertySeed") });

// oxlint-disable-next-line no-restricted-imports -- the one place
export * from "fast-check";
