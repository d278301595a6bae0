import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startBuild } from "../../src/build/run-build.ts";
import type { BuildClaim, FrozenInput } from "../../src/contract.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { mountsBelow } from "../../src/leftovers.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { uploadedFile } from "../fake-artifacts.ts";
import { startFakeWorker, type FakeWorker } from "../fake-worker.ts";
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

/** A claimed build, started as the agent's loop starts it. */
async function start(worker: FakeWorker, stateDir: string, input: FrozenInput, more: Partial<BuildClaim> = {}) {
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

/** The scenario "slow" has come to its end: KIWI, and the child that it started in a session of its own. */
const isSlow = (stateDir: string) =>
  [...processesIn(stateDir).values()].filter((words) => words.startsWith("sleep")).length === 2;

describe("a build", () => {
  it("uploads a disk as NAME.tar.gz with NAME/NAME.raw inside, and says what is in it", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, frozenInput());
    await running.done;

    expect(build.failure).toBeNull();
    expect(build.finished).toMatchObject({
      fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
      rawSize: 64 * 1024 * 1024 + 3,
      compressed: true,
      builder: "9.24.56",
    });
    expect(build.finished?.remark).toBeUndefined();
    const hello = { name: "hello", version: "1.1", release: "1", arch: "noarch", license: "MIT" };
    expect(build.finished?.installed).toContainEqual(hello);
    expect(build.finished?.installed.map((each) => each.name)).not.toContain("gpg-pubkey");
    expect(build.finished?.steps.map((step) => step.phase)).toEqual([
      "Fetching appliance configuration",
      "Preparing the build",
      "Installing software",
      "Configuring the system",
      "Creating the image",
      "Compressing the image",
      "Uploading the image",
    ]);
    const file = uploadedFile(build.artifacts.image);
    const digest = (name: string) => createHash(name).update(file).digest("hex");
    expect(build.artifacts.image.upload?.complete).toMatchObject({
      md5: digest("md5"),
      sha1: digest("sha1"),
      sha256: digest("sha256"),
    });
    writeFileSync(join(state.path, "image.tar.gz"), file);
    execFileSync("tar", ["-xzf", "image.tar.gz"], { cwd: state.path });
    const raw = join(state.path, "Kiosk.x86_64-0.0.1.oem/Kiosk.x86_64-0.0.1.oem.raw");
    const bytes = readFileSync(raw);
    expect([bytes.subarray(0, 5).toString(), bytes.subarray(-3).toString()]).toEqual(["begin", "end"]);
    expect(statSync(raw).blocks * 512).toBeLessThan(1024 * 1024);
  });

  it("uploads the file store of the image's root", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, frozenInput());
    await running.done;

    const { files, "files-index": index } = build.artifacts;
    expect(uploadedFile(files).toString()).toContain("root:x:0:0:root");
    expect(gunzipSync(uploadedFile(index)).toString()).toContain('"path":"/etc/people"');
    expect(build.log).toMatch(/Kiln: the file store has \d+ entries, \d+ bytes/);
  });

  it("uploads a medium as it is", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, frozenInput({ imageType: "iso" }));
    await running.done;

    expect(build.finished).toMatchObject({
      fileName: "Kiosk.x86_64-0.0.1.iso.iso",
      rawSize: 3_000_000,
      compressed: false,
    });
    expect(uploadedFile(build.artifacts.image).length).toBe(3_000_000);
  });

  it("keeps the disk for testdrives and removes its work directory", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running, cache } = await start(worker, state.path, frozenInput());
    await running.done;

    using image = await cache.find(build.claim.buildId, build.artifacts.image.upload?.complete?.sha256 ?? "");
    expect(image?.format).toBe("raw");
    expect(statSync(image?.path ?? "").size).toBe(64 * 1024 * 1024 + 3);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("sends KIWI's log and its own phases, and no password's command line", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, frozenInput());
    await running.done;

    expect(build.log).toContain("(21/21) Installing: hello-1.1-1.noarch");
    expect(build.log).toContain("Kiln: Creating the image");
    expect(build.log).toContain(`sha256 ${build.artifacts.image.upload?.complete?.sha256}`);
    expect(build.log).not.toContain("attempt-1-1");
  });

  it("gives KIWI the packages that it has fetched, as the only repository", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { running } = await start(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    const packages = join(state.path, "work/build-1-1/packages");
    const config = readFileSync(join(state.path, "work/build-1-1/root/config.xml"), "utf8");
    const files = readdirSync(packages);
    running.stop("cancelled");
    await running.done;

    expect(config.match(/<source [^>]*>/g)).toEqual([`<source path="dir://${packages}"/>`]);
    const { packages: frozen } = inScenario("slow");
    expect(files.toSorted()).toEqual([...frozen.map(({ checksum }) => `${checksum.value}.rpm`), "repodata"].toSorted());
  });

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
  ])("that goes %s ends as %s with one sentence, in the log too", async (scenario, kind, sentence) => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, inScenario(scenario));
    await running.done;

    expect(build.failure).toEqual({ kind, reason: expect.stringMatching(sentence) });
    expect(build.log.trimEnd().split("\n").at(-1)).toContain(`Kiln: ${build.failure?.reason}`);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("refuses a repository inside the private network as the user's mistake", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const repositories = [{ alias: "main", id: 1, name: "Mine", url: "http://127.0.0.1:1/tiny" }];
    const input = frozenInput({ repositories, packages: [frozenPackage("hello")] });

    const { build, running } = await start(worker, state.path, input);
    await running.done;

    expect(build.failure).toEqual({
      kind: "failed",
      reason: "A repository cannot be used: 127.0.0.1:1 is an address inside a private network.",
    });
  });

  it("fails with a sentence when a mirror has lost a package, before KIWI begins", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    worker.trouble(/hello-1\.1-1/, 404);

    const { build, running } = await start(worker, state.path, frozenInput());
    await running.done;

    expect(build.failure).toEqual({
      kind: "failed",
      reason: "hello-1.1-1.noarch is gone: HTTP 404 of its repository. Refresh the repository and build again.",
    });
    expect(build.log).not.toContain("Installing");
  });

  it("says in what the image differs from the frozen packages, and each package in the log", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const input = frozenInput();
    const packages = [
      ...input.packages.filter(({ name }) => name !== "busybox"),
      frozenPackage("libghost", { epoch: 2 }),
    ];

    const { build, running } = await start(worker, state.path, { ...input, packages });
    await running.done;

    expect(build.finished?.remark).toBe(
      "The image differs from what was resolved: 1 missing (libghost-2:1.0-1.noarch); 1 unexpected (busybox-1.35.0-1.x86_64).",
    );
    expect(build.log).toContain("Kiln: not in the image, though it was chosen: libghost-2:1.0-1.noarch");
    expect(build.log).toContain("Kiln: in the image, though nothing chose it: busybox-1.35.0-1.x86_64");
  });

  it("blames the host for a KIWI that was killed there", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await start(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    const [kiwi] = [...processesIn(state.path)].find(([, words]) => words.startsWith(`/bin/sh ${fakeKiwi}`)) ?? [];
    process.kill(kiwi ?? 0, "SIGKILL");
    await running.done;

    expect(build.failure).toEqual({
      kind: "error",
      reason: "KIWI was killed on the builder, perhaps for want of memory.",
    });
    expect(processesIn(state.path)).toEqual(new Map());
  });

  it("blames the host for a missing program", async () => {
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

describe("a build that is stopped", () => {
  it("ends KIWI's whole tree and its mounts within 2 s when it is cancelled, and says nothing more", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await start(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    const cancelledAt = Date.now();
    running.stop("cancelled");
    await running.done;

    expect(Date.now() - cancelledAt).toBeLessThan(2_000);
    expect(processesIn(state.path)).toEqual(new Map());
    expect(await mountsBelow(state.path)).toEqual([]);
    expect(readdirSync("/dev").length).toBeGreaterThan(0);
    expect(existsSync(join(state.path, "work/build-1-1"))).toBe(false);
    expect([build.failure, build.finished]).toEqual([null, null]);
    expect(worker.calls.filter((call) => /fail|finish|release/.test(call))).toEqual([]);
  });

  it("hears of it by the heartbeat's answer as well", async () => {
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
    const { build, running } = await start(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    build.claim = { ...build.claim, token: "attempt-1-2" };
    await running.done;

    expect(processesIn(state.path)).toEqual(new Map());
    expect(build.failure).toBeNull();
  });

  it("is given back when the agent stops", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { build, running } = await start(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    running.stop("released");
    await running.done;

    expect(build.status).toBe("released");
    expect(processesIn(state.path)).toEqual(new Map());
  });

  it("fails with a sentence when its time is over", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await start(worker, state.path, inScenario("slow"), { timeLimitMs: 1_000 });
    await running.done;

    expect(build.failure).toEqual({ kind: "failed", reason: "The build took longer than 0 minutes." });
    expect(build.log).toContain("Kiln: The build took longer than");
  });
});

describe("a Worker in trouble", () => {
  it("does not lose the build: every call is tried again", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    worker.trouble(/\/log$/, 503);
    worker.trouble(/\/heartbeat$/, 502);
    worker.trouble(/\/artifacts\/image$/, "drop");
    worker.trouble(/\/parts\/1$/, 429);
    worker.trouble(/\/complete$/, "drop");
    worker.trouble(/\/finish$/, 500, 2);

    const { build, running } = await start(worker, state.path, frozenInput());
    await running.done;

    expect(build.status).toBe("finished");
    expect(build.log).toContain("Kiln: Uploading the image");
  });
});
