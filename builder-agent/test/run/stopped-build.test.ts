import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startBuild } from "../../src/run/run-build.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { mountsBelow } from "../../src/leftovers.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { startFakeWorker } from "../fake-worker.ts";
import { eventually, inScenario, processesIn, silent, temporaryDir, testConfig } from "../support/agent-place.ts";
import { isSlow, startClaimed } from "../support/started-build.ts";

describe("a build that is stopped", () => {
  it("ends KIWI's processes and mounts when it is cancelled", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await startClaimed(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    running.stop("cancelled");
    await running.done;

    expect(processesIn(state.path)).toEqual(new Map());
    expect(await mountsBelow(state.path)).toEqual([]);
    expect(existsSync("/dev/null")).toBe(true);
    expect(existsSync(join(state.path, "work/build-1-1"))).toBe(false);
    expect([build.failure, build.finished]).toEqual([null, null]);
    expect(worker.calls.filter((call) => /fail|finish|release/.test(call))).toEqual([]);
  });

  it("is also stopped by the heartbeat's answer", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = worker.queueBuild(inScenario("slow"));
    build.status = "running";
    build.cancel = true;
    const config = testConfig(worker.url, state.path);
    const cache = await openImageCache(join(state.path, "cache"), 1e9);

    await startBuild(build.claim, { api: connectWorker(config), config, cache, builder: "", log: silent }).done;

    expect(processesIn(state.path)).toEqual(new Map());
    expect(worker.calls.filter((call) => /fail|finish|release/.test(call))).toEqual([]);
  });

  it("stops silently when the Worker has given it to another attempt", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await startClaimed(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    build.claim = { ...build.claim, token: "attempt-1-2" };
    await running.done;

    expect(processesIn(state.path)).toEqual(new Map());
    expect(build.failure).toBeNull();
  });

  it("is released when the agent stops", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await startClaimed(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    running.stop("released");
    await running.done;

    expect(build.status).toBe("released");
    expect(processesIn(state.path)).toEqual(new Map());
  });

  it("fails with a message when its time is over", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, inScenario("slow"), { timeLimitMs: 1_000 });
    await running.done;

    expect(build.failure).toEqual({ kind: "failed", reason: "The build took longer than 0 minutes." });
    expect(build.log).toContain("Kiln: The build took longer than");
  });
});
