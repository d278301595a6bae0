import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startBuild } from "../../src/run/run-build.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { startFakeWorker } from "../fake-worker.ts";
import {
  eventually,
  fakeKiwi,
  inScenario,
  processesIn,
  silent,
  temporaryDir,
  testConfig,
} from "../support/agent-place.ts";
import { frozenInput, frozenPackage } from "../support/frozen-input.ts";
import { isSlow, startClaimed } from "../support/started-build.ts";

describe("a failing build", () => {
  it.each([
    [
      "broken-dep",
      "failed",
      /^The software cannot be installed: nothing provides does-not-exist >= 7 needed by broken-dep-1.0-1.noarch\.$/,
    ],
    ["no-such-package", "failed", /^No provider of 'no-such-package' found\.$/],
    ["bad-script", "failed", /^config\.sh failed: image\/config\.sh: line 3: nosuchcmd: command not found$/],
    ["no-repository", "error", /^Repository 'updates' is invalid\.$/],
    ["disk-full", "error", /^The disk of the builder is full\.$/],
  ])("with %s ends as %s with one sentence, also in its log", async (scenario, kind, sentence) => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, inScenario(scenario));
    await running.done;

    expect(build.failure).toEqual({ kind, reason: expect.stringMatching(sentence) });
    expect(build.log.trimEnd().split("\n").at(-1)).toContain(`Kiln: ${build.failure?.reason}`);
    expect(build.log).not.toContain(state.path);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("is the user's mistake for a repository in a private network", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const repositories = [{ alias: "main", id: 1, name: "Mine", url: "http://127.0.0.1:1/tiny" }];
    const input = frozenInput({ repositories, packages: [frozenPackage("hello")] });

    const { build, running } = await startClaimed(worker, state.path, input);
    await running.done;

    expect(build.failure).toEqual({
      kind: "failed",
      reason: "A repository cannot be used: 127.0.0.1:1 is an address in a private network.",
    });
  });

  it("names a package that a mirror has lost, before KIWI starts", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    worker.trouble(/hello-1\.1-1/, 404);

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    expect(build.failure).toEqual({
      kind: "failed",
      reason: "hello-1.1-1.noarch is missing: HTTP 404 from its repository. Refresh the repository and build again.",
    });
    expect(build.log).not.toContain("Installing");
  });

  it("is the host's fault if KIWI is killed", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await startClaimed(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    const [kiwi] = [...processesIn(state.path)].find(([, words]) => words.startsWith(`/bin/sh ${fakeKiwi}`)) ?? [];
    if (kiwi === undefined) throw new Error("KIWI has ended"); // 0 would kill this test itself
    process.kill(kiwi, "SIGKILL");
    await running.done;

    expect(build.failure).toEqual({
      kind: "error",
      reason: "KIWI was killed on the builder, perhaps because memory ran out.",
    });
    expect(processesIn(state.path)).toEqual(new Map());
  });

  it("is the host's fault if a program is missing", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = worker.queueBuild(frozenInput());
    build.status = "running";
    const config = testConfig(worker.url, state.path, { kiwi: "no-such-kiwi" });
    const cache = await openImageCache(join(state.path, "cache"), 1e9);

    await startBuild(build.claim, { api: connectWorker(config), config, cache, builder: "", log: silent }).done;

    expect(build.failure?.kind).toBe("error");
    expect(build.failure?.reason).toContain("no-such-kiwi");
  });
});
