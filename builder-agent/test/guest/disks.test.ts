import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeKiwiPaths } from "../../src/run/kiwi.ts";
import type { KiwiJob } from "../../src/run/kiwi-runner.ts";
import { makeBuilderRoot } from "../../src/guest/builder-root.ts";
import { installedPackages } from "../../src/guest/host-packages.ts";
import { jobCommands, makeBlankDisk, makeJobDisk, packDisk } from "../../src/guest/job-disk.ts";
import { guestScript } from "../../src/guest/kernel.ts";
import { RootShare } from "../../src/prepared/share.ts";
import { silent, temporaryDir } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

const { signal } = new AbortController();
const said = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
/** Mode, owner and name of everything in a squashfs. */
const listed = (disk: string) =>
  new Map(
    said("unsquashfs", "-d", "", "-lln", disk)
      .split("\n")
      .flatMap((line) => {
        const [, mode = "", owner = "", name = ""] =
          /^(\S{10}) (\d+\/\d+) .*?\d\d:\d\d (\/.*?)(?: -> .*)?$/.exec(line) ?? [];
        return name === "" ? [] : [[name, { mode, owner }] as const];
      }),
  );
const contentIn = (disk: string, path: string) => said("unsquashfs", "-cat", disk, path);

/** A work directory, as it is before the build's guest starts. */
async function openJob(): Promise<KiwiJob> {
  const dir = await temporaryDir();
  onTestFinished(() => dir[Symbol.asyncDispose]());
  const paths = await makeKiwiPaths(dir.path);
  mkdirSync(paths.keys);
  writeFileSync(join(paths.keys, "0.asc"), "a key");
  writeFileSync(join(paths.description, "config.xml"), "<image/>");
  writeFileSync(join(paths.packages, "a.rpm"), "a package", { mode: 0o600 });
  const keys = [join(paths.keys, "0.asc")];
  return {
    input: frozenInput(),
    paths,
    workDir: dir.path,
    keys,
    fetch: async () => {},
    signal,
    onLine: silent,
    onPhase: silent,
  };
}

describe("the disk of a job", () => {
  it("contains what KIWI needs, owned by root, with the packages moved", async () => {
    const job = await openJob();
    symlinkSync("/etc/shadow", join(job.paths.description, "link"));
    const disk = await makeJobDisk(job);
    const files = listed(disk);

    expect(new Set([...files.values()].map(({ owner }) => owner))).toEqual(new Set(["0/0"]));
    expect(files.get("/run")?.mode).toBe("-rwxr-xr-x");
    expect(files.get("/description/link")?.mode[0]).toBe("l"); // not its target
    expect(contentIn(disk, "run")).toBe(readFileSync(guestScript("kiwi.sh"), "utf8"));
    expect(contentIn(disk, "description/config.xml")).toBe("<image/>");
    expect(contentIn(disk, "packages/a.rpm")).toBe("a package");
    expect(contentIn(disk, "keys/0.asc")).toBe("a key");
    expect(files.has("/shims/loaded.py")).toBe(true);
    for (const [step, words] of Object.entries(jobCommands(job))) {
      expect(contentIn(disk, step).split("\0")).toEqual([...words, ""]);
    }
    expect(existsSync(job.paths.packages)).toBe(false);
  });

  it("contains a prepared root's archive instead of the preparation steps", async () => {
    const job = await openJob();
    const roots = {
      lock: async () => silent,
      take: async (_: string, to: string) => (writeFileSync(to, "an archive"), true),
      put: async () => {},
      forget: async () => {},
      free: async () => {},
    };
    const share = await RootShare.join({ roots, key: "k", workDir: job.workDir, signal, onNote: silent });
    const files = listed(await makeJobDisk({ ...job, share }));
    expect([files.has("/restore"), files.has("/prepare"), files.has("/prepared.tar.zst")]).toEqual([true, false, true]);
  });

  it("has no keys for an image of Debian, which has them in its description", async () => {
    const job = await openJob();
    rmSync(job.paths.keys, { recursive: true });
    expect(listed(await makeJobDisk({ ...job, keys: [] })).has("/keys")).toBe(false);
  });

  it("is not made from missing files or for a stopped build", async () => {
    await using dir = await temporaryDir();
    const disk = join(dir.path, "disk");
    await expect(packDisk([join(dir.path, "nowhere")], disk, signal)).rejects.toThrow(/mksquashfs/);
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(packDisk([dir.path], disk, stopped)).rejects.toThrow("stopped");
  });
});

describe("a blank disk", () => {
  it("is sparse, private to its owner, and never an existing file", async () => {
    await using dir = await temporaryDir();
    const disk = await makeBlankDisk(join(dir.path, "blank"), 2 ** 40);
    const { size, blocks, mode } = statSync(disk);
    expect([size, blocks, mode & 0o777]).toEqual([2 ** 40, 0, 0o600]);
    await expect(makeBlankDisk(disk, 1)).rejects.toThrow(/EEXIST/);
    symlinkSync("/tmp/elsewhere", join(dir.path, "link"));
    await expect(makeBlankDisk(join(dir.path, "link"), 1)).rejects.toThrow(/EEXIST/);
  });

  it("can be formatted with a file system", async () => {
    await using dir = await temporaryDir();
    const disk = await makeBlankDisk(join(dir.path, "blank"), 64 * 1024 * 1024);
    said("mke2fs", "-q", "-t", "ext4", disk);
    expect(said("debugfs", "-R", "ls -p /", disk)).toContain("lost+found");
  });
});

describe("the builder's root", () => {
  it("has packages, kernel modules and Debian's accounts", async () => {
    await using dir = await temporaryDir();
    const modulesDir = join(dir.path, "modules");
    mkdirSync(join(modulesDir, "lib/modules/6.1"), { recursive: true });
    writeFileSync(join(modulesDir, "lib/modules/6.1/modules.dep"), "");
    const bash = installedPackages().get("bash");
    if (!bash) throw new Error("bash is not installed");
    const into = join(dir.path, "root.squashfs");

    await makeBuilderRoot(
      { packages: [bash], missing: [] },
      { kernel: { version: "6.1", modulesDir }, workDir: dir.path, into },
    );

    const files = listed(into);
    expect(new Set([...files.values()].map(({ owner }) => owner))).toEqual(new Set(["0/0"]));
    expect(files.get("/tmp")?.mode).toBe("drwxrwxrwt");
    expect(files.has("/usr/bin/bash")).toBe(true);
    expect(files.has("/usr/lib/modules/6.1/modules.dep")).toBe(true);
    expect(contentIn(into, "etc/passwd")).toBe(readFileSync("/usr/share/base-passwd/passwd.master", "utf8"));
    expect(contentIn(into, "etc/hostname")).toBe("builder\n");
    for (const path of ["/etc/shadow", "/etc/machine-id", "/etc/resolv.conf"])
      expect(files.has(path), path).toBe(false);
  });
});
