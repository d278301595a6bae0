import { describe, expect, it } from "vitest";
import { jobCommands } from "../../src/guest/job-disk.ts";
import type { RootShare } from "../../src/prepared/share.ts";
import { guestCommand, qemuArguments, type GuestMachine } from "../../src/guest/machine.ts";
import { moduleFiles } from "../../src/guest/kernel.ts";
import { userOfBuild, kvmGroups } from "../../src/guest/user.ts";
import { frozenInput } from "../support/frozen-input.ts";

const machine: GuestMachine = {
  accel: "tcg",
  memoryMb: 1536,
  cpus: 1,
  diskBytes: 16 * 1024 ** 3,
  user: 1_879_113_729,
  groups: [],
  enclosed: true,
};

const after = (words: readonly string[], word: string) => words[words.indexOf(word) + 1];
const allAfter = (words: readonly string[], word: string) =>
  words.flatMap((each, index) => (each === word ? [words[index + 1] ?? ""] : []));

describe("a guest's command", () => {
  it("drops root's rights, sets limits, hides the host, starts QEMU", () => {
    const [command, args] = guestCommand(machine);
    expect(command).toBe("setpriv");
    const order = ["--reuid", "prlimit", "bwrap", "qemu-system-x86_64"].map((word) => args.indexOf(word));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBe(0);
    expect(after(args, "--reuid")).toBe("1879113729");
    expect(args).toEqual(
      expect.arrayContaining(["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]),
    );
    expect(after(args, "--pdeathsig")).toBe("KILL");
  });

  it("limits files, memory and processes", () => {
    const [, args] = guestCommand(machine);
    const limits = args.slice(args.indexOf("prlimit") + 1, args.indexOf("bwrap"));
    expect(limits).toEqual([
      "--core=0",
      "--nofile=256",
      "--nproc=512",
      `--fsize=${16 * 1024 ** 3}`,
      `--as=${(1536 + 256 + 3072) * 1024 ** 2}`,
      "--",
    ]);
  });

  it("shows QEMU only programs and libraries, read-only", () => {
    const [, args] = guestCommand({ ...machine, accel: "kvm", groups: [108] });
    const sandbox = args.slice(args.indexOf("bwrap"), args.indexOf("qemu-system-x86_64"));
    expect(sandbox).toEqual(expect.arrayContaining(["--unshare-all", "--die-with-parent"]));
    expect(sandbox.filter((word) => /bind/.test(word)).toSorted()).toEqual(
      "--dev-bind --ro-bind --ro-bind-try --ro-bind-try".split(" "),
    );
    expect(after(args, "--groups")).toBe("108");
    expect(args).not.toContain("--clear-groups");
  });

  it("omits bubblewrap if it does not work", () => {
    expect(guestCommand({ ...machine, enclosed: false })[1]).not.toContain("bwrap");
  });
});

describe("QEMU's arguments", () => {
  const words = qemuArguments(machine);

  it("contain no file names, because all disks are inherited and raw", () => {
    const drives = allAfter(words, "-drive");
    expect(drives).toHaveLength(4);
    for (const drive of drives) expect(drive).toMatch(/file=\/dev\/fdset\/\d+,format=raw/);
    const readOnly = drives.filter((drive) => drive.includes("readonly=on"));
    expect(readOnly.map((drive) => /id=(\w+)/.exec(drive)?.[1])).toEqual(["root", "job"]);
    const paths = words.flatMap((word) => word.match(/\/[\w/]+/g) ?? []);
    expect(paths.filter((path) => !/^\/(dev\/fdset|proc\/self\/fd)\/\d+$/.test(path))).toEqual([]);
  });

  it("let no late timer of a busy host look like a broken one", () => {
    expect(after(words, "-append")?.split(" ")).toContain("no_timer_check");
  });

  it("have no network, no share, no monitor, and the sandbox", () => {
    expect(after(words, "-nic")).toBe("none");
    expect(after(words, "-sandbox")).toBe("on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
    expect(words.filter((word) => /netdev|fsdev|9p|virtiofs|vsock|^-mon|^-qmp|^-monitor/.test(word))).toEqual([]);
    expect(words).toContain("-nodefaults");
  });

  it("use hardware virtualisation if available", () => {
    expect(after(qemuArguments({ ...machine, accel: "kvm" }), "-accel")).toBe("kvm");
    expect(after(words, "-accel")).toMatch(/^tcg/);
  });
});

/** The steps of a job that receives an archive of a root, receives none, or does not share roots. */
const steps = (share?: { archive: string | undefined }) =>
  Object.keys(jobCommands({ input: frozenInput(), keys: [], ...(share && { share: share as RootShare }) }));

describe("the parts of a guest", () => {
  it("run KIWI with the guest's paths, and none of the host's", () => {
    const input = frozenInput();
    const commands = jobCommands({ input, keys: ["/var/lib/kiln-agent/work/build-1-1/keys/0.asc"] });
    expect(commands.prepare?.join(" ")).toContain("--description /job/description --root /build/root");
    expect(commands.prepare?.join(" ")).toContain("/job/keys/0.asc");
    expect(commands.create.join(" ")).toContain("--target-dir /build/target");
    expect(Object.values(commands).flat().join(" ")).not.toContain("/var/lib");
    const small = jobCommands({ input: { ...input, appliance: { ...input.appliance, arch: "i586" } }, keys: [] });
    expect(small.prepare?.join(" ")).toContain(
      "setarch i686 /usr/bin/python3 /job/shims/loaded.py /usr/bin/kiwi-ng --debug",
    );
  });

  it("start from a prepared root, and share one, if wanted", () => {
    expect(steps()).toEqual(["index", "prepare", "create"]);
    expect(steps({ archive: undefined })).toEqual(["index", "prepare", "keep", "create"]);
    expect(steps({ archive: "/here/prepared.tar.zst" })).toEqual(["restore", "create"]);
  });

  it("give each build a separate user that owns nothing", () => {
    expect(userOfBuild(1)).not.toBe(userOfBuild(2));
    expect(userOfBuild(1)).toBeGreaterThan(1_000_000);
  });

  it("need no group for public files, and find none for root's", async () => {
    expect(await kvmGroups("tcg", "/nowhere")).toEqual([]);
    expect(await kvmGroups("kvm", "/dev/null")).toEqual([]);
    expect(await kvmGroups("kvm", "/etc/shadow")).toBeUndefined();
  });

  it("include a kernel's modules with everything that they need", () => {
    const dependencies = [
      "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko kernel/fs/jbd2/jbd2.ko",
      "kernel/lib/crc16.ko:",
      "kernel/fs/jbd2/jbd2.ko:",
      "kernel/drivers/block/virtio_blk.ko:",
      "kernel/crypto/crc32-pclmul.ko.xz:",
      "kernel/net/other.ko:",
      "",
    ].join("\n");
    expect(moduleFiles(dependencies, ["ext4", "virtio_blk", "crc32_pclmul", "built_in"]).toSorted()).toEqual([
      "kernel/crypto/crc32-pclmul.ko.xz",
      "kernel/drivers/block/virtio_blk.ko",
      "kernel/fs/ext4/ext4.ko",
      "kernel/fs/jbd2/jbd2.ko",
      "kernel/lib/crc16.ko",
    ]);
  });
});
