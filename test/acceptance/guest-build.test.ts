import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FrozenInput } from "../../builder-agent/src/contract.ts";
import { makeBlankDisk, packDisk } from "../../builder-agent/src/guest/job-disk.ts";
import { runGuest } from "../../builder-agent/src/guest/run-guest.ts";
import { openGuestSystem } from "../../builder-agent/src/guest/system.ts";
import { userOfBuild } from "../../builder-agent/src/guest/user.ts";
import { uploadedFile } from "../../builder-agent/test/fake-artifacts.ts";
import { agentToken, startFakeWorker, type FakeBuild, type FakeWorker } from "../../builder-agent/test/fake-worker.ts";
import { eventually, temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// A whole agent, KIWI in a guest without hardware virtualisation, and a build script that has taken the guest over.

const distribution = sampleDistribution();
const main = fileURLToPath(new URL("../../builder-agent/src/main.ts", import.meta.url));
const hostileScript = readFileSync(new URL("support/hostile-build.sh", import.meta.url), "utf8");
const secretWord = "a-word-of-this-host-only";

let state: Awaited<ReturnType<typeof temporaryDir>>;
let server: Awaited<ReturnType<typeof serveDistribution>>;
beforeAll(async () => {
  state = await temporaryDir();
  server = await serveDistribution(distribution);
});
afterAll(async () => {
  server[Symbol.dispose]();
  await state[Symbol.asyncDispose]();
});

/** Tiny Linux from mirrors on this host; its build script leaves the image's root and runs the hostile one in the guest's. */
async function hostileInput(worker: FakeWorker, secretFile: string): Promise<FrozenInput> {
  const input = await resolvedTiny(distribution);
  const told = { SECRET_FILE: secretFile, SECRET_WORD: secretWord, TOKEN: agentToken };
  const target = { ...told, WORKER_PORT: new URL(worker.url).port };
  const repositories = input.repositories.map((each) => ({
    ...each,
    url: each.url.replace("service:", server.url),
  }));
  const description = {
    ...input.description,
    "config.sh": "#!/bin/bash\nchroot /proc/1/root /bin/bash /job/description/hostile.sh\nexit 0\n",
    "hostile.sh": hostileScript,
    "target.env": Object.entries(target)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(""),
  };
  return { ...input, repositories, description };
}

function startAgent(worker: FakeWorker): AsyncDisposable & { said: () => string } {
  const file = join(state.path, "agent.json");
  const own = { url: worker.url, token: agentToken, stateDir: join(state.path, "agent"), testdriveSlots: 0 };
  const allowHosts = [new URL(server.url).host];
  // No isolation: "vm" is what an agent does by itself.
  writeFileSync(file, JSON.stringify({ ...own, accel: "tcg", buildDiskGb: 1, allowHosts }), { mode: 0o600 });
  const child = spawn(process.execPath, [main, "--config", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => (said += bytes));
  const gone = once(child, "exit");
  return {
    said: () => said,
    // The next one finds the state directory locked while this one lives.
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** What /proc says of the processes of a user. */
function processesOf(user: number): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const status = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
      return new RegExp(`^Uid:\\t${user}\\t`, "m").test(status) ? [status] : [];
    } catch {
      return []; // gone while we looked
    }
  });
}

/** QEMU, as soon as it has locked itself in. */
const qemuOf = (user: number) =>
  processesOf(user).find((status) => /^Name:\tqemu-system/m.test(status) && /^Seccomp:\t2$/m.test(status));

async function until<T>(what: string, minutes: number, check: () => T | undefined | false): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await eventually(what, check);
    } catch (error) {
      if (tries >= minutes * 2) throw error;
    }
  }
}

const attempts = (build: FakeBuild) =>
  Object.fromEntries(
    [...build.log.matchAll(/TRIED ([\w-]+): (.*)/g)].map(([, name = "", result = ""]) => [
      name,
      result.trim().replaceAll(/\s+/g, " "),
    ]),
  );

describe("a build in a guest", () => {
  it("makes the image, and its scripts reach nothing of the host", { timeout: 1_500_000 }, async () => {
    await using worker = await startFakeWorker();
    const secretFile = join(state.path, "secret");
    writeFileSync(secretFile, secretWord, { mode: 0o644 });
    const build = worker.queueBuild(await hostileInput(worker, secretFile), { timeLimitMs: 1_400_000 });
    const user = userOfBuild(build.claim.buildId);
    await using agent = startAgent(worker);

    const qemu = await until("the build's QEMU", 8, () => qemuOf(user));
    expect(worker.hellos[0]?.capabilities).toMatchObject({
      isolation: "vm",
      imageTypes: ["oem", "iso", "vmx", "xen", "ec2", "net", "oemiso"],
      arches: ["x86_64", "i586"],
    });
    expect(qemu).toMatch(/^CapEff:\t0+$/m);
    expect(qemu).toMatch(/^CapBnd:\t0+$/m);
    expect(qemu).toMatch(/^NoNewPrivs:\t1$/m);
    await until("the end of the build", 20, () => build.status !== "running");

    expect(build.failure, agent.said() + build.log.slice(-3000)).toBeNull();
    expect(attempts(build)).toEqual({
      user: "0",
      "host-file": expect.stringContaining("No such file or directory"),
      "host-tree": "/home: /root: /srv:",
      "host-word": "0 0",
      token: "0 0",
      networks: "lo",
      worker: "refused",
      gateway: "refused",
      processes: "0",
      "job-disk": "refused",
      "root-disk": "refused",
      "full-disk": expect.stringMatching(/^No space left on device \d{3}$/),
    });

    expect(build.finished).toMatchObject({ fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz", rawSize: 512 * 1024 * 1024 });
    expect(build.finished?.remark).toBeUndefined();
    expect(build.finished?.installed).toContainEqual(expect.objectContaining({ name: "hello", version: "1.1" }));
    expect(build.finished?.steps.map((step) => step.phase)).toContain("Creating the image");
    expectCleanStore(build);
    expect(uploadedFile(build.artifacts.image).includes(secretWord)).toBe(false);
    await eventually("no process of the guest", () => processesOf(user).length === 0);
    // The agent tidies up when the Worker has heard of the image.
    await eventually("the work directory is gone", () => readdirSync(join(state.path, "agent/work")).length === 0);
  });

  it("ends with its agent, even when that is killed", { timeout: 600_000 }, async () => {
    await using worker = await startFakeWorker();
    const build = worker.queueBuild(await hostileInput(worker, "/nowhere"));
    const user = userOfBuild(build.claim.buildId);
    {
      await using _ = startAgent(worker);
      await until("the build's QEMU", 4, () => qemuOf(user));
    }
    await eventually("no process of the guest", () => processesOf(user).length === 0);

    await using successor = startAgent(worker);
    await until("the next start", 4, () => worker.hellos.length === 2);
    expect(successor.said()).toContain("cleaned up after a killed agent");
    expect(readdirSync(join(state.path, "agent/work"))).toEqual([]);
  });

  it("is the host's failure when its machine is killed", { timeout: 600_000 }, async () => {
    await using worker = await startFakeWorker();
    const build = worker.queueBuild(await hostileInput(worker, "/nowhere"));
    const user = userOfBuild(build.claim.buildId);
    await using _ = startAgent(worker);
    const qemu = await until("the build's QEMU", 4, () => qemuOf(user));

    process.kill(Number(/^Pid:\t(\d+)$/m.exec(qemu)?.[1]), "SIGKILL");
    await until("the end of the build", 2, () => build.status !== "running");

    expect(build.failure).toMatchObject({ kind: "error", reason: expect.stringContaining("the guest ended with") });
    await eventually("the work directory is gone", () => readdirSync(join(state.path, "agent/work")).length === 0);
  });

  it("is gone at once when it is stopped", { timeout: 600_000 }, async () => {
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

/** The file store is the image's root: links as links, and nothing of this host behind them. */
function expectCleanStore(build: FakeBuild): void {
  const index = gunzipSync(uploadedFile(build.artifacts["files-index"])).toString();
  const entries = index.split("\n").filter((line) => line.startsWith('{"path"'));
  const found = new Map(entries.map((line) => [String(JSON.parse(line).path), JSON.parse(line)]));
  expect(found.get("/etc/climbing")).toMatchObject({ type: "l", target: expect.stringContaining("../etc/passwd") });
  expect(found.get("/etc/smuggled")).toMatchObject({ type: "l" });
  expect(found.get("/etc/passwd")).toMatchObject({ type: "f", owner: "root", uid: 0 });
  const store = uploadedFile(build.artifacts.files);
  const { offset, length } = found.get("/etc/passwd");
  const passwd = zstdDecompressSync(store.subarray(offset, offset + length)).toString();
  expect(passwd).toMatch(/^root:/);
  expect(existsSync("/etc/passwd") && passwd === readFileSync("/etc/passwd", "utf8")).toBe(false);
}
