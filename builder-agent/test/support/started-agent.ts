import { join } from "node:path";
import { runAgent } from "../../src/agent.ts";
import type { Capabilities } from "../../src/contract.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { connectQueue } from "../../src/queue.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { startFakeWorker, type FakeWorker } from "../fake-worker.ts";
import { eventually, silent, temporaryDir, testConfig } from "./agent-place.ts";

export const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem", "iso"],
  isolation: "none",
  testdrives: false,
  builder: "9.24.56",
};

interface Wish {
  config?: Record<string, unknown>;
  /** Changes to what the doctor finds. */
  found?: Partial<Capabilities>;
  /** Runs before the agent's first call. */
  prepare?: (worker: FakeWorker) => void;
  /** The capabilities that the doctor finds when it runs again later. */
  examine?: () => Promise<Capabilities>;
  examineAfterMs?: number;
}

/** A fake Worker, and an agent that works for it until the end of the test. */
export async function startAgent({ config: more = {}, found = {}, prepare = () => {}, ...wish }: Wish = {}) {
  const worker = await startFakeWorker();
  const dir = await temporaryDir();
  prepare(worker);
  const config = testConfig(worker.url, dir.path, more);
  const stopping = new AbortController();
  const draining = new AbortController();
  const cache = await openImageCache(join(dir.path, "cache"), 1e9);
  const can = { ...capabilities, ...found };
  const means = {
    config,
    capabilities: can,
    examine: async () => can,
    ...wish,
    cache,
    log: silent,
    draining: draining.signal,
  };
  const parts = { ...means, api: connectWorker(config), queue: connectQueue(config) };
  const running = runAgent(parts, stopping.signal);
  await eventually("the socket", () => worker.sockets.size > 0);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  return {
    worker,
    stateDir: dir.path,
    stop,
    /** Resolves when the agent has ended on its own. */
    drain: async () => {
      draining.abort();
      await running;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await worker[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}
