import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unpackPackages } from "../../../test/scripts/debian-packages.ts";
import type { Arch } from "../../src/contract.ts";
import { environmentFor, shims } from "../../src/run/kiwi.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** Without the shims, a command would take hours. It is killed after this time. */
const timeout = 20_000;
const sleepless = (...command: string[]) =>
  execFileSync("python3", ["-BES", join(shims, "sleepless.py"), ...command], { timeout, encoding: "utf8" });

describe("a program that never sleeps", () => {
  it("continues immediately, and so do its children", () => {
    expect(sleepless("/bin/sleep", "7200")).toBe("");
    expect(sleepless("/bin/sh", "-c", 'sleep 7200; echo "$0 $1"', "its own", "arguments")).toBe("its own arguments\n");
  });

  it("ends with the usual exit code", () => {
    expect(() => sleepless("/bin/sh", "-c", "exit 7")).toThrow(expect.objectContaining({ status: 7 }));
  });

  it("leaves nothing behind in the agent's own folder", () => {
    sleepless("/bin/true");
    expect(readdirSync(shims)).not.toContain("__pycache__");
  });
});

const rpm = (...args: string[]) => execFileSync(join(shims, "rpm"), args, { encoding: "utf8", stdio: "pipe" });

describe("rpm as KIWI calls it", () => {
  it("is called for everything except a verification", () => {
    expect(rpm("--root", "/", "-Va", "--kiln")).toBe("");
    expect(() => rpm("--root", "/", "-qa", "--kiln")).toThrow("--kiln");
    expect(rpm("--eval", "%{?nothing}one")).toBe("one\n");
  });
});

const dpkg = (...args: string[]) => execFileSync(join(shims, "dpkg"), args, { encoding: "utf8", stdio: "pipe" });

describe("dpkg as KIWI calls it", () => {
  it("is called for everything except a verification", () => {
    expect(dpkg("--root", "/nowhere", "-V", "--verify-format", "rpm")).toBe("");
    expect(() => dpkg("--root", "/", "--kiln")).toThrow("--kiln");
    expect(dpkg("--print-architecture")).toMatch(/^\w+\n$/);
  });
});

const xz = (args: string[], input: string) => execFileSync(join(shims, "xz"), args, { input });

describe("xz as KIWI calls it", () => {
  it("compresses everything except a network tree's archive, which no one downloads", () => {
    expect(xz(["-f", "-0", "--threads=0"], "the tree").toString()).toBe("");
    const compressed = xz(["-0", "--check=crc32"], "an initrd");
    expect(execFileSync("xz", ["-d"], { input: compressed }).toString()).toBe("an initrd");
  });

  it("stores the root of a container", () => {
    expect(xz(["-f", "-0", "--threads=1"], "the root").toString()).toBe("the root");
  });
});

const tar = (args: string[], env: NodeJS.ProcessEnv) => execFileSync(join(shims, "tar"), args, { env, stdio: "pipe" });

describe("tar as KIWI calls it", () => {
  const sourceDate = 1_700_000_000;
  const env = { ...process.env, SOURCE_DATE_EPOCH: `${sourceDate}` };

  /**
   * The archive of a root, as KIWI requests it: two files, and everything that a running system fills. The root's /tmp
   * was changed before the date of the sources.
   */
  async function packedRoot(names: readonly string[], changed = 2000): Promise<Buffer> {
    await using dir = await temporaryDir();
    for (const folder of ["etc", "proc/1", "run/lock", "tmp/x", "usr/tmp/x", "var/cache/kiwi/packages", "sys", "dev"]) {
      mkdirSync(join(dir.path, folder), { recursive: true });
    }
    for (const name of names) writeFileSync(join(dir.path, "etc", name), name);
    utimesSync(join(dir.path, "etc/old"), 1000, 1000);
    utimesSync(join(dir.path, "tmp"), changed, changed);
    const folders = ["dev", "etc", "proc", "run", "sys", "tmp", "usr", "var"];
    return tar(["-C", dir.path, "--xattrs", "--xattrs-include=*", "-c", "--to-stdout", ...folders], env);
  }

  it("packs the same root into the same bytes, whatever the order of its files", async () => {
    const first = await packedRoot(["old", "new"]);
    expect(Buffer.compare(await packedRoot(["new", "old"]), first)).toBe(0);
  });

  it("packs the same root into the same bytes, whether or not something was made in its /tmp and removed", async () => {
    const first = await packedRoot(["old"], 2000);
    expect(Buffer.compare(await packedRoot(["old"], 3000), first)).toBe(0);
  });

  it("packs directories empty that are filled when the system runs", async () => {
    const input = await packedRoot(["old"]);
    const names = execFileSync("tar", ["-t"], { input, encoding: "utf8" }).trim().split("\n");
    const empty = ["dev/", "proc/", "run/", "sys/", "tmp/"];
    expect(names.toSorted()).toEqual(
      [...empty, "etc/", "etc/old", "usr/", "usr/tmp/", "usr/tmp/x/", "var/", "var/cache/"].toSorted(),
    );
  });

  it("keeps times that are older than the sources", async () => {
    const input = await packedRoot(["old", "new"]);
    const listed = execFileSync("tar", ["-tv", "--full-time", "--utc"], { input, encoding: "utf8" });
    expect(listed).toMatch(/1970-01-01 00:16:40 etc\/old/);
    expect(listed).toMatch(/2023-11-14 22:13:20 etc\/new/);
  });

  it("is called unchanged for everything else", () => {
    expect(tar(["--version"], env).toString()).toContain("GNU tar");
  });
});

/** A squashfs of a root whose /tmp was changed before the date of the sources. */
async function squashedRoot(changed: number): Promise<Buffer> {
  await using dir = await temporaryDir();
  const root = join(dir.path, "root");
  mkdirSync(join(root, "tmp"), { recursive: true });
  utimesSync(join(root, "tmp"), changed, changed);
  const env = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" };
  const packed = join(dir.path, "packed");
  execFileSync(join(shims, "mksquashfs"), [root, packed, "-noappend", "-b", "1M"], { env, stdio: "pipe" });
  return readFileSync(packed);
}

describe("mksquashfs as KIWI calls it", () => {
  it("packs the same root into the same bytes, whether or not something was made in its /tmp and removed", async () => {
    const first = await squashedRoot(2000);
    expect(Buffer.compare(await squashedRoot(3000), first)).toBe(0);
  });

  it("is called unchanged for everything else", () => {
    const { stdout } = spawnSync(join(shims, "mksquashfs"), ["-version"], { encoding: "utf8" });
    expect(stdout).toContain("mksquashfs version");
  });
});

const sfdisk = (args: string[], input = "") =>
  execFileSync(join(shims, "sfdisk"), args, { input, encoding: "utf8", stdio: "pipe" });

describe("sfdisk as KIWI calls it", () => {
  it("sets the type of a partition", async () => {
    await using dir = await temporaryDir();
    const disk = join(dir.path, "disk");
    writeFileSync(disk, "");
    truncateSync(disk, 16 * 1024 * 1024);
    sfdisk([disk], "label: dos\n,,L\n");

    sfdisk(["-c", disk, "1", "8e"]);

    const { partitions } = JSON.parse(sfdisk(["--json", disk])).partitiontable;
    expect(partitions).toEqual([expect.objectContaining({ start: 2048, type: "8e" })]);
  });
});

const chroot = (env: Record<string, string>, ...args: string[]) =>
  execFileSync(join(shims, "chroot"), args, { encoding: "utf8", stdio: "pipe", env: { ...process.env, ...env } });

/** A root in which apt-get is a script. */
async function rootWith(aptGet: string) {
  const dir = await temporaryDir();
  const root = join(dir.path, "root");
  for (const each of ["dev", "image", "usr", "var/lib/dpkg/info", "tmp", dir.path.slice(1)])
    mkdirSync(join(root, each), { recursive: true });
  unpackPackages(["busybox-static"], root);
  symlinkSync("busybox", join(root, "usr/bin/sh"));
  writeFileSync(join(root, "usr/bin/apt-get"), `#!/bin/sh\n${aptGet}\n`, { mode: 0o755 });
  writeFileSync(join(root, "var/lib/dpkg/info/base-files.list"), "/.\n/dev\n/tmp\n/var\n/var/tmp\n");
  const copy = join(dir.path, "copy.tar");
  const env = { KILN_BASE_COPY: copy, KILN_WORK_DIR: dir.path, PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  return { ...dir, root, copy, env, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}
const apt = ["apt-get", "-q", "-c", "/kiwi_options", "-y", "--no-install-recommends"];

describe("chroot as KIWI calls it for a Debian system", () => {
  it("copies the root when its packages are installed, without what KIWI has put there", async () => {
    await using here = await rootWith('echo "$@" > /asked; echo > /kiwi_options');
    const { root, env, copy } = here;

    chroot(env, root, ...apt, "update");
    expect(existsSync(copy)).toBe(false);
    chroot(env, root, ...apt, "install", "hello=2.10-3");

    expect(readFileSync(join(root, "asked"), "utf8")).toContain("install hello=2.10-3");
    const names = execFileSync("tar", ["-tf", copy], { encoding: "utf8" }).split("\n");
    expect(names).toEqual(expect.arrayContaining(["./asked", "./dev/", "./tmp/", "./usr/bin/busybox"]));
    expect(names.filter((name) => /image|kiwi_|kiln-agent/.test(name))).toEqual([]);
  });

  it("copies nothing that is not wanted, or not installed", async () => {
    await using here = await rootWith("exit 100");
    const { root, env, copy } = here;

    expect(() => chroot(env, root, ...apt, "install", "hello=1")).toThrow(expect.objectContaining({ status: 100 }));
    expect(existsSync(copy)).toBe(false);
    expect(chroot({}, root, "/usr/bin/busybox", "echo", "install")).toBe("install\n");
  });
});

const machine = (env: Record<string, string>) =>
  execFileSync("python3", ["-B", "-c", "import platform; print(platform.machine())"], {
    env: { ...env, PYTHONPATH: join(shims, "python") },
    encoding: "utf8",
  }).trim();
const traced = (env: Record<string, string>) =>
  spawnSync("sh", ["-x", join(shims, "debootstrap"), "--version"], { env, encoding: "utf8" });

const environment = (arch: Arch) => ({ PATH: process.env["PATH"] ?? "", ...environmentFor(arch) });

describe("a build for another architecture", () => {
  it("seems to run on a machine of arm64 to KIWI, if it is for arm64", () => {
    expect(machine(environment("aarch64"))).toBe("aarch64");
    expect(machine(environment("x86_64"))).not.toBe("aarch64");
  });

  it.each([
    ["aarch64", "arm64"],
    ["i586", "i386"],
    ["x86_64", "amd64"],
  ] as const)("passes %s on to debootstrap", (arch, debian) => {
    const { stderr, status } = traced(environment(arch));
    expect(stderr).toContain(`debootstrap --arch=${debian} --version`);
    expect(status).toBe(0);
  });
});
