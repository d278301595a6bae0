import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { FrozenInput } from "../../src/contract.ts";
import { shims } from "../../src/run/kiwi.ts";
import { reproducibleEnvironment } from "../../src/run/reproducible.ts";
import { jobCommands } from "../../src/guest/job-disk.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

const dated: FrozenInput = { ...frozenInput(), sourceDate: 1_767_225_600 };
const other: FrozenInput = { ...dated, appliance: { ...dated.appliance, id: 1001 } };
const environment = (input = dated): Record<string, string> => ({
  PATH: "/usr/bin:/bin",
  ...reproducibleEnvironment(input, shims),
});

let disk: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  disk = join(temporary.path, "disk");
});

/** Makes an ext4 as KIWI does. Returns a digest of all its bytes, and its UUID. */
function made(env: Record<string, string>, ...words: string[]) {
  rmSync(disk, { force: true });
  writeFileSync(disk, "");
  truncateSync(disk, 16 * 1024 * 1024);
  execFileSync(join(shims, "mkfs.ext4"), ["-q", "-F", ...words, disk], { env });
  const bytes = readFileSync(disk);
  // The superblock starts at 1024, its UUID at 0x68.
  return { digest: createHash("sha256").update(bytes).digest("hex"), uuid: bytes.toString("hex", 1128, 1144) };
}

describe("a file system of the same input", () => {
  it("does not depend on the container of its disk", () => {
    const inAnother: FrozenInput = { ...dated, imageType: "vmx", imageName: "Kiosk.x86_64-0.0.1.vmx" };
    expect(made(environment(inAnother)).uuid).toBe(made(environment()).uuid);
  });

  it("is identical", () => {
    expect(made(environment(), "-L", "ROOT")).toEqual(made(environment(), "-L", "ROOT"));
  });

  it.each([
    ["under another label", environment(), "BOOT"],
    ["of another input", environment(other), "ROOT"],
  ])("differs %s", (_, env, label) => {
    expect(made(env, "-L", label).uuid).not.toBe(made(environment(), "-L", "ROOT").uuid);
  });

  it("keeps a UUID that KIWI sets", () => {
    const uuid = "12345678-1234-4234-8234-123456789abc";
    expect(made(environment(), "-U", uuid).uuid).toBe(uuid.replaceAll("-", ""));
  });

  it("has a random UUID for older inputs", () => {
    const before = environment({ ...dated, sourceDate: undefined });
    expect(made(before, "-L", "ROOT").uuid).not.toBe(made(before, "-L", "ROOT").uuid);
  });
});

describe.each(["xfs", "btrfs"])("%s of the same input", (type) => {
  const uuidOf = (env: Record<string, string>, ...words: string[]) => {
    rmSync(disk, { force: true });
    writeFileSync(disk, "");
    truncateSync(disk, 320 * 1024 * 1024);
    execFileSync(join(shims, `mkfs.${type}`), ["-f", ...words, disk], { env, stdio: "pipe" });
    return execFileSync("blkid", ["--probe", "--output", "value", "--match-tag", "UUID", disk], { encoding: "utf8" });
  };

  it("has the same UUID, and another one with another label or of another input", () => {
    const uuid = uuidOf(environment(), "-L", "ROOT");
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}\n$/);
    expect(uuidOf(environment(), "-L", "ROOT")).toBe(uuid);
    expect(uuidOf(environment(), "-L", "DATA")).not.toBe(uuid);
    expect(uuidOf(environment(other), "-L", "ROOT")).not.toBe(uuid);
  });

  it("keeps a UUID that KIWI sets", () => {
    const uuid = "12345678-1234-4234-8234-123456789abc";
    expect(uuidOf(environment(), ...(type === "xfs" ? ["-m", `uuid=${uuid}`] : ["-U", uuid]))).toBe(`${uuid}\n`);
  });
});

describe("a partition table of the same input", () => {
  const commands = "n\np\n1\n2048\n+4M\nw\nq\n";
  const madeTable = (env: Record<string, string>) => {
    rmSync(disk, { force: true });
    writeFileSync(disk, "");
    truncateSync(disk, 16 * 1024 * 1024);
    execFileSync(join(shims, "fdisk"), [disk], { env, input: commands });
    const head = readFileSync(disk).subarray(0, 512);
    return { id: head.readUInt32LE(440), start: head.readUInt32LE(454), magic: head.readUInt16BE(510) };
  };

  it("has the same identifier and partition", () => {
    const table = madeTable(environment());
    expect(table).toEqual({ id: expect.any(Number), start: 2048, magic: 0x55aa });
    expect(madeTable(environment())).toEqual(table);
    expect(madeTable(environment(other)).id).not.toBe(table.id);
  });

  it("has a random identifier for older inputs", () => {
    const before = environment({ ...dated, sourceDate: undefined });
    expect(madeTable(before).id).not.toBe(madeTable(before).id);
  });
});

/** Makes two partitions as KIWI does. Returns the GUIDs of the table and of each partition. */
function madeGuids(env: Record<string, string>): string[] {
  rmSync(disk, { force: true });
  writeFileSync(disk, "");
  truncateSync(disk, 16 * 1024 * 1024);
  for (const words of ["-n 1:0:+2M -c 1:p.legacy", "-n 2:0:0 -c 2:p.UEFI"]) {
    execFileSync(join(shims, "sgdisk"), [...words.split(" "), disk], { env, stdio: "pipe" });
  }
  const { id, partitions } = JSON.parse(execFileSync("sfdisk", ["--json", disk], { encoding: "utf8" })).partitiontable;
  return [id, ...partitions.map(({ uuid }: { uuid: string }) => uuid)];
}

describe("a GUID partition table of the same input", () => {
  it("has the same distinct GUIDs, which differ for another input", () => {
    const guids = madeGuids(environment());
    expect(new Set(guids).size).toBe(3);
    expect(madeGuids(environment())).toEqual(guids);
    expect(new Set([...guids, ...madeGuids(environment(other))]).size).toBe(6);
  });

  it("has random GUIDs for older inputs", () => {
    const before = environment({ ...dated, sourceDate: undefined });
    expect(new Set([...madeGuids(before), ...madeGuids(before)]).size).toBe(6);
  });
});

function madeFat(env: Record<string, string>): string {
  rmSync(disk, { force: true });
  writeFileSync(disk, "");
  truncateSync(disk, 16 * 1024 * 1024);
  execFileSync(join(shims, "mkdosfs"), ["-F16", "-I", "-n", "EFI", disk], { env, stdio: "pipe" });
  return createHash("sha256").update(readFileSync(disk)).digest("hex");
}

describe("a FAT file system of the same input", () => {
  it("is identical, and differs for another input", () => {
    expect(madeFat(environment())).toBe(madeFat(environment()));
    expect(madeFat(environment(other))).not.toBe(madeFat(environment()));
  });
});

const python = (env: Record<string, string>, code: string) =>
  execFileSync("python3", ["-c", code], { env, encoding: "utf8" });

describe("Python as KIWI runs it", () => {
  const diskId = "import random; print([random.randrange(1, 0xfe) for _ in range(4)])";

  it("makes the same disk id for the same input only", () => {
    expect(python(environment(), diskId)).toBe(python(environment(), diskId));
    expect(python(environment(other), diskId)).not.toBe(python(environment(), diskId));
  });

  it("lets GRUB use linuxefi only if it has that", () => {
    const header = "if efi; then\\n  set linux=linuxefi\\n  set initrd=initrdefi\\nfi\\n$title";
    const written = python(
      environment(),
      `from string import Template; print(Template("${header}").substitute(title="T"))`,
    );
    const there = "if [ -f ${prefix}/${grub_cpu}-efi/linuxefi.mod ]; then";
    expect(written).toBe(
      `if efi; then\n  ${there} set linux=linuxefi; fi\n  ${there} set initrd=initrdefi; fi\nfi\nT\n`,
    );
  });

  it("still has random secrets", () => {
    const secret = "import secrets, uuid; print(secrets.token_hex(8), uuid.uuid4())";
    expect(python(environment(), secret)).not.toBe(python(environment(), secret));
  });
});

it("also reaches KIWI in a guest, by the guest's paths", () => {
  const { create } = jobCommands({ input: dated, keys: [] });
  expect(create.slice(0, create.indexOf("/usr/bin/kiwi-ng"))).toEqual(
    expect.arrayContaining(["SOURCE_DATE_EPOCH=1767225600", "PYTHONPATH=/job/shims/python"]),
  );
});

it("does not change older inputs", () => {
  expect(reproducibleEnvironment(frozenInput(), shims)).toEqual({});
});
