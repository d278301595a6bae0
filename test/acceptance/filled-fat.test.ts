import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { enclosed } from "../../builder-agent/src/process.ts";
import { kiwiEnvironment, makeKiwiPaths } from "../../builder-agent/src/run/kiwi.ts";

// The shims fill the partition that UEFI reads, with the commands that KIWI runs, on a real loop device. The kernel may
// lack vfat.

const folder = mkdtempSync(join(tmpdir(), "filled-fat-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sourceDate = 1_700_000_000; // 2023-11-14 22:13:20 UTC
const start = 6144;

/**
 * The commands that KIWI NG runs. It mounts the partition twice, and writes to the second mount after the first has its
 * files.
 */
const kiwi = `
  disk=$1 files=$2
  truncate -s 24M "$disk"
  sgdisk -n 1:0:+2M -c 1:p.legacy "$disk"
  sgdisk -n 2:0:+20M -c 2:p.UEFI "$disk"
  loop=$(losetup --find --show "$disk")
  trap 'partx --delete "$loop"; losetup --detach "$loop"' EXIT
  partx --add "$loop"
  mkdir first second
  mkdosfs -F16 -I -n EFI "$loop"p2
  mount "$loop"p2 first
  rsync --archive "$files/" first
  mount "$loop"p2 second
  findmnt --noheadings --output SOURCE --mountpoint second | grep -q "$loop"p2
  echo loader > second/EFI/BOOT/grub.cfg
  umount second
  umount first
`;

/** Creates folders in this order, each with a file of the same name. */
function makeFiles(folders: readonly string[]): string {
  const files = mkdtempSync(join(folder, "files-"));
  for (const name of folders) {
    mkdirSync(join(files, name), { recursive: true });
    writeFileSync(join(files, name, "a name that is long.cfg"), name);
  }
  writeFileSync(join(files, "EFI/BOOT/BOOTX64.EFI"), Buffer.alloc(3_000_000, 7));
  return files;
}

async function fill(files: string, { seed = "seed", TZ = "UTC" } = {}) {
  const dir = mkdtempSync(join(folder, "work-"));
  const disk = join(dir, "disk.raw");
  const reproducible = { SOURCE_DATE_EPOCH: `${sourceDate}`, KILN_REPRODUCIBLE_SEED: seed };
  execFileSync(...enclosed("sh", ["-euc", kiwi, "sh", disk, files]), {
    cwd: dir,
    env: { ...process.env, ...kiwiEnvironment(await makeKiwiPaths(dir)), ...reproducible, TZ },
    stdio: "pipe",
  });
  return disk;
}

const sha256 = (disk: string) => createHash("sha256").update(readFileSync(disk)).digest("hex");

/** Reads the partition with mtools. */
const mtools = (disk: string, program: string, ...args: string[]) =>
  execFileSync(program, ["-i", `${disk}@@${start * 512}`, ...args], {
    env: { ...process.env, TZ: "UTC" },
    maxBuffer: 2 ** 24,
  });

describe("the partition that UEFI reads, filled without mounting it", () => {
  const folders = ["EFI/BOOT", "EFI/debian", "EFI/Ä ö"];

  it("is the same, byte for byte, whatever differs where it is made", async () => {
    const one = await fill(makeFiles(folders));
    const other = await fill(makeFiles(folders.toReversed()), { TZ: "Asia/Tokyo" });

    expect(sha256(other)).toBe(sha256(one));
    expect(sha256(await fill(makeFiles(folders), { seed: "another" }))).not.toBe(sha256(one));
  });

  it("has each file, with the time of the sources, and no errors", async () => {
    const disk = await fill(makeFiles(folders));
    const partition = join(folder, "partition");
    writeFileSync(partition, readFileSync(disk).subarray(start * 512, (start + 40_960) * 512));

    // The number includes four folders and the label. fsck ends with a different exit code if it finds errors.
    expect(execFileSync("fsck.fat", ["-n", partition], { encoding: "utf8" })).toContain(" 10 files");
    expect(mtools(disk, "mtype", "::/EFI/BOOT/grub.cfg").toString()).toBe("loader\n");
    expect(mtools(disk, "mtype", "::/EFI/Ä ö/a name that is long.cfg").toString()).toBe("EFI/Ä ö");
    expect(mtools(disk, "mtype", "::/EFI/BOOT/BOOTX64.EFI").equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    const times = mtools(disk, "mdir", "-/", "::")
      .toString()
      .match(/\d{4}-\d{2}-\d{2} .*?\d{2}:\d{2}/g);
    expect(times?.length).toBeGreaterThan(8);
    expect(new Set(times)).toEqual(new Set(["2023-11-14  22:13"]));
  });

  it("ends the build where KIWI looks, if the files are too large", async () => {
    const files = makeFiles(folders);
    writeFileSync(join(files, "large"), Buffer.alloc(22_000_000, 1));

    await expect(fill(files)).rejects.toThrow(/rsync: .*No space left on device/);
  });

  it("leaves no disk that is not filled", async () => {
    const files = makeFiles(folders);
    // In memory, the files fit into the directory. In the file system, each takes a whole cluster, and the tables also
    // take space.
    writeFileSync(join(files, "large"), Buffer.alloc(17_930_000, 1));

    await expect(fill(files)).rejects.toThrow(/full/i);
  });
});

describe("the FAT that UEFI reads on a medium", () => {
  /** The command that KIWI NG runs. */
  const kiwiForMedium = `
    truncate -s 20M "$1"
    mkdosfs -n BOOT "$1"
    mcopy -Do -s -i "$1" "$2/EFI" ::
  `;

  async function fillMedium(files: string, TZ: string): Promise<string> {
    const dir = mkdtempSync(join(folder, "work-"));
    const image = join(dir, "efi.img");
    const reproducible = { SOURCE_DATE_EPOCH: `${sourceDate}`, KILN_REPRODUCIBLE_SEED: "seed" };
    const env = { ...process.env, ...kiwiEnvironment(await makeKiwiPaths(dir)), ...reproducible, TZ };
    execFileSync("sh", ["-euc", kiwiForMedium, "sh", image, files], { cwd: dir, env, stdio: "pipe" });
    return image;
  }

  it("is the same, byte for byte, whatever differs where it is made", async () => {
    const folders = ["EFI/BOOT", "EFI/debian", "EFI/Ä ö"];
    const one = await fillMedium(makeFiles(folders), "UTC");
    const other = await fillMedium(makeFiles(folders.toReversed()), "Asia/Tokyo");

    expect(sha256(other)).toBe(sha256(one));
    expect(execFileSync("fsck.fat", ["-n", one], { encoding: "utf8" })).toContain(" 9 files");
    const loader = execFileSync("mtype", ["-i", one, "::/EFI/BOOT/BOOTX64.EFI"], { maxBuffer: 2 ** 24 });
    expect(loader.equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  });
});
