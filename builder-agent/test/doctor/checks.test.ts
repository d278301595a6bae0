import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { imageTypes, productOf } from "../../src/contract.ts";
import { degraded, fine, isPossible, missing } from "../../src/doctor/check.ts";
import { checkAmount, checkDisk, checkIsolation, checkRoot, checkVnc } from "../../src/doctor/host.ts";
import { checkKiwiVersion, findKiwiVersion } from "../../src/doctor/kiwi.ts";
import { checkStalePartitions } from "../../src/doctor/loop-device.ts";
import { checkTool, getDistribution, type Distribution } from "../../src/doctor/packages.ts";
import packages from "../../src/doctor/packages.json" with { type: "json" };
import { formatReport } from "../../src/doctor/table.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { standIn } from "../support/stand-in.ts";

describe("isPossible", () => {
  it.each([
    ["oem", missing("sfdisk", "", ["oem"], ""), false],
    ["iso", missing("sfdisk", "", ["oem"], ""), true],
    ["iso", missing("root", "", ["builds"], ""), false],
    ["testdrives", missing("root", "", ["builds"], ""), true],
    ["testdrives", missing("QEMU", "", ["testdrives"], ""), false],
    ["vmx", missing("sfdisk", "", ["oem"], ""), false],
    ["oemiso", missing("xorriso", "", ["iso"], ""), false],
    ["net", missing("xorriso", "", ["oem", "iso"], ""), true],
    ["net", missing("root", "", ["builds"], ""), false],
    ["i586", missing("32-bit programs", "", ["i586"], ""), false],
    ["oem", missing("32-bit programs", "", ["i586"], ""), true],
    ["oem", degraded("disk", "", ["oem"], ""), true],
    ["sample-distribution", missing("createrepo_c", "", ["sample-distribution"], ""), false],
  ] as const)("is, for %s and %j: %s", (ability, check, possible) => {
    expect(isPossible(ability, [fine("other", ""), check])).toBe(possible);
  });
});

describe("findKiwiVersion", () => {
  it.each([
    ["is killed at first", 2, "9.24.56"],
    ["is killed each time", 100, undefined],
  ])("asks again if the program %s", async (_, kills, version) => {
    await using dir = await temporaryDir();
    const asked = join(dir.path, "asked");
    const script = `echo >> ${asked}; [ $(wc -l < ${asked}) -gt ${kills} ] || kill -9 $$; echo "KIWI v9.24.56"`;
    await standIn(dir.path, "kiwi-ng", script);
    expect(await findKiwiVersion()).toBe(version);
  });
});

describe("packages.json", () => {
  it("lists each tool once, with packages per distribution and a reason", () => {
    const names = packages.map(({ tool }) => tool);
    expect(new Set(names).size).toBe(names.length);
    for (const row of packages) expect(Object.values(row).every((value) => value.length > 0)).toBe(true);
  });

  it("uses only abilities that the doctor knows", () => {
    const known = [
      "oem",
      "iso",
      "net",
      "i586",
      "deb",
      "UEFI disks",
      "UEFI media",
      "xfs disks",
      "btrfs disks",
      "guests",
      "testdrives",
      "32-bit programs",
      "arm64 builds",
      "arm64 testdrives",
      "sandbox of testdrives",
      "Secure Boot of testdrives",
      "fast packing",
      "sample-distribution",
      "tests",
    ];
    expect(packages.flatMap((row) => row.for).filter((ability) => !known.includes(ability))).toEqual([]);
  });
});

describe("checkTool", () => {
  const row = { tool: "kiln-no-such-tool", debian: "deb-name", suse: "suse-name", fedora: "fedora-name" };

  it.each<[Distribution, string]>([
    ["debian", "apt-get install -y --no-install-recommends deb-name"],
    ["suse", "zypper install -y suse-name"],
    ["fedora", "dnf install -y fedora-name"],
  ])("explains on %s how to install what is missing", async (distribution, fix) => {
    const check = await checkTool({ ...row, for: ["iso"], why: "writes the medium" }, distribution);
    expect(check).toEqual(missing("kiln-no-such-tool", "writes the medium", ["iso"], fix));
  });

  it.each([
    ["mkdosfs", ["UEFI disks", "UEFI media"]],
    ["mcopy", ["UEFI disks", "UEFI media"]],
  ])("without %s disables only UEFI", async (name, efi) => {
    const [found] = packages.filter(({ tool }) => tool === name);
    if (!found) throw new Error(`no row of ${name}`);
    const check = await checkTool({ ...found, tool: row.tool }, "debian");
    expect(check.disables).toEqual([...efi, "guests", "tests"]);
    expect(imageTypes.every((type) => isPossible(type, [check]))).toBe(true);
  });

  it("finds a file at any of its known paths", async () => {
    const tool = { ...row, tool: "passwd", paths: ["/nonexistent/passwd", "/etc/passwd"], for: ["iso"], why: "" };
    expect(await checkTool(tool, "debian")).toEqual(fine("passwd", "/etc/passwd"));
  });
});

describe("getDistribution", () => {
  it.each([
    ["ID=debian\n", "debian"],
    ["NAME=x\nID=ubuntu\nID_LIKE=debian\n", "debian"],
    ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "suse"],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora"],
    ["", "debian"],
  ])("reads %j as %s", async (release, distribution) => {
    await using dir = await temporaryDir();
    await writeFile(join(dir.path, "os-release"), release);
    expect(await getDistribution(join(dir.path, "os-release"))).toBe(distribution);
  });
});

describe("the checks of a host", () => {
  it.each([
    ["9.24.56", "ok"],
    ["9.25.0", "ok"],
    ["10.1.2", "ok"],
    ["9.23.99", "missing"],
    ["8.99.1", "missing"],
    [undefined, "missing"],
  ])("treat KIWI %s as %s", (version, state) => {
    expect(checkKiwiVersion(version).state).toBe(state);
  });

  it.each([
    [9, "missing"],
    [10, "degraded"],
    [19, "degraded"],
    [20, "ok"],
  ])("treat %i of at least 10 and preferably 20 as %s", (bytes, state) => {
    expect(checkAmount("disk", bytes, { least: 10, comfortable: 20 }).state).toBe(state);
  });

  it("let builds wait on a full disk, without disabling any", async () => {
    await using dir = await temporaryDir();
    expect(await checkDisk({ stateDir: dir.path, minFreeGb: 10_000 })).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining("builds wait"),
      disables: [],
    });
    expect((await checkDisk({ stateDir: dir.path, minFreeGb: 0 })).detail).not.toContain("wait");
  });

  it("allow builds only to root", () => {
    expect(checkRoot(0).state).toBe("ok");
    expect(checkRoot(1000)).toMatchObject({ state: "missing", disables: ["builds"] });
  });

  it("report how builds are isolated", () => {
    expect(checkIsolation({ isolation: "vm" }).detail).toContain("its own guest");
    expect(checkIsolation({ isolation: "none" }).detail).toContain("bare on this host");
  });

  it.each([
    [null, "ok"],
    [{ host: "127.0.0.1", ports: [5900, 5999] as const }, "ok"],
    [{ host: "127.0.0.1", ports: [5000, 5100] as const }, "degraded"],
  ])("treat the VNC address %j as %s", (vnc, state) => {
    expect(checkVnc({ vnc }).state).toBe(state);
  });

  it("find exactly the partitions without their loop device", async () => {
    await using dir = await temporaryDir();
    await mkdir(join(dir.path, "loop0/loop"), { recursive: true });
    await mkdir(join(dir.path, "loop0/loop0p1"));
    await mkdir(join(dir.path, "sda/sda1"), { recursive: true });
    expect((await checkStalePartitions(dir.path)).state).toBe("ok");
    await mkdir(join(dir.path, "loop3/loop3p1"), { recursive: true });
    expect(await checkStalePartitions(dir.path)).toMatchObject({ state: "degraded", detail: "loop3p1" });
  });
});

describe("formatReport", () => {
  const report = [fine("root", "yes"), missing("xorriso", "writes the medium", ["iso"], "apt-get install xorriso")];

  const types = imageTypes.map((type) => `${type}: ${productOf(type).isMedium ? "not possible" : "possible"}`);

  it("has one line per check, its fix, and what is possible", () => {
    expect(formatReport(report, { colour: false }).split("\n")).toEqual([
      "ok        root     yes",
      "missing   xorriso  writes the medium",
      "                   → apt-get install xorriso  (without it: no iso)",
      "",
      `${types.join(", ")}, i586: possible, deb: possible, testdrives: possible, sample-distribution: possible`,
    ]);
  });

  it("is coloured only on request", () => {
    expect(formatReport(report, { colour: false })).not.toContain("\u001B");
    expect(formatReport(report, { colour: true })).toContain("\u001B[31mmissing");
  });
});
