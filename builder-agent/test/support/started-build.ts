import { join } from "node:path";
import { startBuild } from "../../src/run/run-build.ts";
import type { BuildClaim, FrozenInput } from "../../src/contract.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { connectWorker } from "../../src/worker-api.ts";
import type { FakeWorker } from "../fake-worker.ts";
import { processesIn, silent, testConfig } from "./agent-place.ts";

/** A claimed build, started as the agent's loop starts it. */
export async function startClaimed(
  worker: FakeWorker,
  stateDir: string,
  input: FrozenInput,
  more: Partial<BuildClaim> = {},
) {
  const build = worker.queueBuild(input, more);
  build.status = "running";
  const config = testConfig(worker.url, stateDir);
  const cache = await openImageCache(join(stateDir, "cache"), 1e9);
  const running = startBuild(build.claim, {
    api: connectWorker(config),
    config,
    cache,
    builder: "9.24.56",
    log: silent,
  });
  return { build, running, cache };
}

/** Whether the scenario "slow" has reached its end: KIWI, and the child that it started in a separate session. */
export const isSlow = (stateDir: string) =>
  [...processesIn(stateDir).values()].filter((words) => words.startsWith("sleep")).length === 2;
