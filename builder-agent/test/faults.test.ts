import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAgent } from "../src/agent.ts";
import type { Capabilities } from "../src/contract.ts";
import { openImageCache } from "../src/image-cache.ts";
import { mountsBelow } from "../src/leftovers.ts";
import { connectQueue } from "../src/queue.ts";
import { connectWorker } from "../src/worker-api.ts";
import { startFakeWorker, type FakeBuild } from "./fake-worker.ts";
import { eventually, fakeKiwi, inScenario, processesIn, silent, testConfig } from "./support/agent-place.ts";
import { smallDisk } from "./support/small-disk.ts";

// Injects faults into a whole agent with a hanging fake KIWI. test/acceptance/faults.test.ts does the same with the
// real one.

const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem"],
  isolation: "none",
  testdrives: false,
  builder: "9.24.56",
};

async function startAgent(minFreeGb: number) {
  const worker = await startFakeWorker();
  const disk = await smallDisk(400);
  const config = testConfig(worker.url, disk.stateDir, { minFreeGb });
  const cache = await openImageCache(join(disk.stateDir, "cache"), 1e9);
  const links = { api: connectWorker(config), queue: connectQueue(config) };
  const stopping = new AbortController();
  const running = runAgent(
    { config, capabilities, examine: async () => capabilities, cache, log: silent, ...links },
    stopping.signal,
  );
  await eventually("the socket", () => worker.sockets.size > 0);
  const begin = (): FakeBuild => {
    const build = worker.queueBuild(inScenario("slow"));
    worker.notify({ type: "wake" });
    return build;
  };
  const work = join(disk.stateDir, "work");
  return {
    worker,
    disk,
    begin,
    work,
    async untilClean() {
      await eventually("no process is left", () => processesIn(work).size === 0);
      expect(await mountsBelow(work)).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
      await worker[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    },
  };
}

const runs = (build: FakeBuild) => build.log.includes("Installing");

describe("an agent", () => {
  it("blames its host if KIWI is killed, and leaves nothing", async () => {
    await using agent = await startAgent(0);
    const build = agent.begin();
    const kiwi = await eventually("KIWI", () =>
      // Excludes the enclosing programs: if one is killed before it has set --kill-child, its child keeps running.
      [...processesIn(agent.work)].find(([, words]) => words.startsWith(`/bin/sh ${fakeKiwi}`)),
    );

    process.kill(kiwi[0], "SIGKILL");
    await eventually("the build ends", () => build.status === "failed");

    expect(build.failure).toEqual({
      kind: "error",
      reason: "KIWI was killed on the builder, perhaps because memory ran out.",
    });
    await agent.untilClean();
  });

  it("stops a build when its disk is almost full, then waits", async () => {
    await using agent = await startAgent(0.1);
    const build = agent.begin();
    await eventually("the build runs", () => runs(build));

    agent.disk.fill(405);
    await eventually("the build ends", () => build.status === "failed");
    await agent.untilClean();
    const next = agent.begin();
    agent.worker.send({ kind: "build", buildId: next.claim.buildId });
    await eventually("its message is put back", () => agent.worker.retried.length > 0);

    expect(build.failure).toMatchObject({ kind: "error", reason: expect.stringContaining("almost full") });
    expect(build.log).toContain("almost full");
    expect(next.status).toBe("queued");
    agent.disk.empty();
    await eventually("the next one runs", () => runs(next));
  });

  it("reports that there is not even room to start", async () => {
    await using agent = await startAgent(0);
    agent.disk.fillUp();
    const build = agent.begin();

    await eventually("the build ends", () => build.status === "failed");

    expect(build.failure).toEqual({ kind: "error", reason: "The disk of the builder is full." });
  });
});
