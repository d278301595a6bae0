import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { imageTypes, type FrozenInput, type ImageType } from "../../builder-agent/src/contract.ts";
import { makeBlankDisk, packDisk } from "../../builder-agent/src/guest/job-disk.ts";
import { runGuest } from "../../builder-agent/src/guest/run-guest.ts";
import { openGuestSystem } from "../../builder-agent/src/guest/system.ts";
import { userOfBuild } from "../../builder-agent/src/guest/user.ts";
import { uploadedFile } from "../../builder-agent/test/fake-artifacts.ts";
import { agentToken, startFakeWorker, type FakeBuild, type FakeWorker } from "../../builder-agent/test/fake-worker.ts";
import { eventually, temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { driveOf, serialOf } from "./support/boot.ts";
import { fromRoot, guestBuildOf, type GuestBuild } from "./support/guest-builds.ts";
import {
  attemptsIn,
  expectCleanStore,
  processesOf,
  qemuOf,
  secretWord,
  whatHostilityComesTo,
  withHostileScript,
} from "./support/hostile-guest.ts";
import { expectShape, login, serialOfNetworkTree, type Downloaded } from "./support/image-types.ts";
import { sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { until } from "./support/until.ts";
import { settingsWith } from "../support/settings.ts";
import { diskSizeMb, expectVolumes, lvm, volumesRoot } from "./support/volumes.ts";

// Runs a whole agent, with KIWI in a guest without hardware virtualisation, and a build script that has taken over the
// guest. The image is for i586, whose programs also run on the guest's 64-bit kernel. Its disk has volumes, but this
// host's kernel needs no device mapper. The other types are made from the root that the first build leaves.

const distribution = sampleDistribution();
const main = fileURLToPath(new URL("../../builder-agent/src/main.ts", import.meta.url));

/** Includes the packages that media and network trees need, and the older of two versions. */
const requests = ["hello = 1.0-1", "lvm2", "dracut-kiwi-live", "syslinux"];

let state: Awaited<ReturnType<typeof temporaryDir>>;
let secretFile: string;
let server: Awaited<ReturnType<typeof serveDistribution>>;
beforeAll(async () => {
  state = await temporaryDir();
  server = await serveDistribution(distribution);
  secretFile = join(state.path, "secret");
  writeFileSync(secretFile, secretWord, { mode: 0o644 });
});
afterAll(async () => {
  server[Symbol.dispose]();
  await state[Symbol.asyncDispose]();
});

/** Tiny Linux from mirrors on this host, with volumes if there is a disk, and with the hostile script. */
async function inputFor(worker: FakeWorker, imageType: ImageType = "oem"): Promise<FrozenInput> {
  const facts = { users: [volumesRoot], settings: settingsWith({ diskSizeMb }), ...(imageType === "oem" && { lvm }) };
  const input = await resolvedTiny(distribution, { imageType, arch: "i586", requests, facts });
  const repositories = input.repositories.map((each) => ({ ...each, url: each.url.replace("service:", server.url) }));
  return withHostileScript({ ...input, repositories }, { secretFile, workerUrl: worker.url });
}

function startAgent(worker: FakeWorker): AsyncDisposable & { said: () => string } {
  const file = join(state.path, "agent.json");
  const own = { url: worker.url, token: agentToken, stateDir: join(state.path, "agent"), testdriveSlots: 0 };
  const allowHosts = [new URL(server.url).host];
  // No isolation setting: "vm" is the agent's default.
  writeFileSync(file, JSON.stringify({ ...own, accel: "tcg", buildDiskGb: 1, allowHosts }), { mode: 0o600 });
  const child = spawn(process.execPath, [main, "--config", file], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (bytes) => (output += bytes));
  const gone = once(child, "exit");
  return {
    said: () => output,
    // The next agent finds the state directory locked while the old one runs.
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Numbered after all other builds of this host, so that the guests run as other users. */
const buildsAfter = 5000;

describe("a hostile build in a guest", () => {
  let worker: FakeWorker;
  let agent: ReturnType<typeof startAgent>;
  beforeAll(async () => {
    worker = await startFakeWorker({ buildsAfter });
    agent = startAgent(worker);
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    await worker[Symbol.asyncDispose]();
  });

  async function queue(imageType: ImageType): Promise<FakeBuild> {
    const build = worker.queueBuild(await inputFor(worker, imageType), { timeLimitMs: 3_600_000 });
    worker.send({ kind: "build", buildId: build.claim.buildId });
    return build;
  }

  /** The result of a build, after checks of everything that its type promises. */
  async function ended(build: FakeBuild, imageType: ImageType): Promise<GuestBuild> {
    await until("the build has ended", 3600, () => build.status !== "running" && build.status !== "queued");
    expect(build.failure, agent.said() + build.log.slice(-3000)).toBeNull();
    const made = guestBuildOf(build, state.path);
    expectShape(imageType, made.downloaded);
    expect(made.finished.installed).toContainEqual(expect.objectContaining({ name: "hello", version: "1.0" }));
    expect(new Set(made.finished.installed.map(({ arch }) => arch))).toEqual(new Set(["i586", "noarch"]));
    return made;
  }

  async function madeOfRoot(imageType: ImageType): Promise<Downloaded> {
    const { downloaded, words } = await ended(await queue(imageType), imageType);
    expect(words).toContain(fromRoot);
    expect(words).not.toContain("Installing software");
    return downloaded;
  }

  it("makes an image that boots, and its scripts cannot reach the host", async () => {
    const build = await queue("oem");
    const user = userOfBuild(build.claim.buildId);

    const qemu = await until("the build's QEMU is there", 1200, () => qemuOf(user));
    expect(worker.hellos[0]?.capabilities).toMatchObject({
      isolation: "vm",
      imageTypes: [...imageTypes],
      arches: ["x86_64", "i586"],
    });
    expect(qemu).toMatch(/^CapEff:\t0+$/m);
    expect(qemu).toMatch(/^CapBnd:\t0+$/m);
    expect(qemu).toMatch(/^NoNewPrivs:\t1$/m);
    const { downloaded, finished, words } = await ended(build, "oem");

    expect(attemptsIn(build)).toEqual(whatHostilityComesTo);
    expect(finished).toMatchObject({ fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz", rawSize: diskSizeMb * 1024 * 1024 });
    expect(finished.remark).toBeUndefined();
    expect(finished.steps.map((step) => step.phase)).toContain("Creating the image");
    expect(words).toContain("Installing software");
    expectCleanStore(build);
    expect(uploadedFile(build.artifacts.image).includes(secretWord)).toBe(false);
    await eventually("no process of the guest", () => processesOf(user).length === 0);
    // The agent cleans up after the Worker has accepted the image.
    await eventually("the work directory is gone", () => readdirSync(join(state.path, "agent/work")).length === 0);
    await expectVolumes(join(downloaded.folder, `${downloaded.name}.raw`));
  });

  it("leaves a root for a network tree that boots over HTTP", async () => {
    const printed = await serialOfNetworkTree(await madeOfRoot("net"));
    expect(printed).toMatch(login);
    expect(printed).toContain("-686 "); // Debian's name for its 32-bit kernel
  });

  it("leaves a root for a live medium that boots", async () => {
    const { file } = await madeOfRoot("iso");
    const printed = await serialOf(driveOf(file, { device: "ide-cd,bootindex=0", isReadOnly: true }), login);
    expect(printed).toMatch(login);
    expect(printed).toContain("-686 ");
  });
});

describe("a build in a guest", () => {
  it("ends with its agent, even if the agent is killed", async () => {
    await using worker = await startFakeWorker({ buildsAfter });
    const build = worker.queueBuild(await inputFor(worker));
    const user = userOfBuild(build.claim.buildId);
    {
      await using _ = startAgent(worker);
      await until("the build's QEMU is there", 1200, () => qemuOf(user));
    }
    await eventually("no process of the guest", () => processesOf(user).length === 0);

    await using successor = startAgent(worker);
    await until("the agent starts again", 1200, () => worker.hellos.length === 2);
    expect(successor.said()).toContain("cleaned up after a killed agent");
    expect(readdirSync(join(state.path, "agent/work"))).toEqual([]);
  });

  it("is the host's fault if its machine is killed", async () => {
    await using worker = await startFakeWorker({ buildsAfter });
    const build = worker.queueBuild(await inputFor(worker));
    const user = userOfBuild(build.claim.buildId);
    await using _ = startAgent(worker);
    const qemu = await until("the build's QEMU is there", 1200, () => qemuOf(user));

    process.kill(Number(/^Pid:\t(\d+)$/m.exec(qemu)?.[1]), "SIGKILL");
    await until("the build has ended", 1200, () => build.status !== "running");

    expect(build.failure).toMatchObject({ kind: "error", reason: expect.stringContaining("the guest ended with") });
    await eventually("the work directory is gone", () => readdirSync(join(state.path, "agent/work")).length === 0);
  });

  it("ends immediately when it is stopped", async () => {
    const system = await openGuestSystem(join(state.path, "agent"));
    await using dir = await temporaryDir();
    const at = (name: string) => join(dir.path, name);
    writeFileSync(at("run"), "#!/bin/sh\necho here\nexec sleep 100000\n", { mode: 0o755 });
    const stop = new AbortController();
    await packDisk([at("run")], at("job"), stop.signal);
    const disks = {
      job: at("job"),
      scratch: await makeBlankDisk(at("scratch"), 2 ** 28),
      result: await makeBlankDisk(at("result"), 2 ** 20),
    };
    const user = userOfBuild(4711);
    const machine = {
      accel: "tcg",
      memoryMb: 512,
      cpus: 1,
      diskBytes: 2 ** 28,
      user,
      groups: [],
      enclosed: true,
    } as const;
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      stop.abort(new Error("stopped"));
    };

    await expect(
      runGuest({ machine, system, ...disks, workDir: dir.path, signal: stop.signal, onLine }),
    ).rejects.toThrow("stopped");

    expect(lines).toEqual(["here"]);
    await eventually("no process of the guest", () => processesOf(user).length === 0);
  });
});
