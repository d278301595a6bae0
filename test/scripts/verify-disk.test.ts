/** How the verification of encrypted disks reads them, with a disk that the real cryptsetup has encrypted. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { momentsOf } from "../../scripts/verify/disk/cuts-proof.ts";
import {
  changeBoot,
  copyPartition,
  decryptRoot,
  differencesBetween,
  partitionsOf,
  volumeKeyOf,
} from "../../scripts/verify/disk/volume.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-verify-disk-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const [image, disk, before, after] = ["image", "disk", "before", "after"].map((name) => join(dir, name)) as [
  string,
  string,
  string,
  string,
];

const bash = (script: string) => execFileSync("bash", ["-ec", script], { cwd: dir, encoding: "utf8" });

beforeAll(async () => {
  bash(String.raw`
    mkdir root; for n in $(seq 20); do head -c 100000 /dev/urandom > root/file-$n; done
    truncate -s 16M plain; mkfs.ext4 -q -d root plain
    truncate -s 60M image
    printf 'label: gpt\nsize=2048\nsize=40960\nsize=32768\n' | sfdisk --quiet image
    printf 'linux root rd.shell=0' | dd of=image bs=512 seek=3000 conv=notrunc status=none
    dd if=plain of=image bs=512 seek=45056 conv=notrunc status=none
    cp image disk; cp plain encrypted; printf 'a passphrase' > key
    cryptsetup reencrypt --encrypt --batch-mode --type luks2 --sector-size 512 --header header --key-file key \
      --pbkdf pbkdf2 --pbkdf-force-iterations 1000 encrypted
    dd if=header of=disk bs=512 seek=4096 conv=notrunc status=none
    dd if=encrypted of=disk bs=512 seek=45056 conv=notrunc status=none`);
  await copyPartition(image, (await partitionsOf(image)).root, before);
});

describe("the verification of an encrypted disk", () => {
  it("finds the same files in the decrypted root as in the image", async () => {
    const { root } = await partitionsOf(disk);
    await decryptRoot(disk, root, await volumeKeyOf(disk, "a passphrase", dir), after);
    expect(readFileSync(after).equals(readFileSync(before))).toBe(true);
    expect(await differencesBetween(before, after, dir)).toBe("20");
  });

  it("finds a file that has changed", async () => {
    bash("echo changed > file; debugfs -w -R 'rm file-7' after; debugfs -w -R 'write file file-7' after");
    expect(await differencesBetween(before, after, dir)).toMatch(/^20\nFiles .*file-7 .* differ$/);
  });

  it("has no key for another passphrase", async () => {
    await expect(volumeKeyOf(disk, "another one", dir)).rejects.toThrow("No key available");
  });

  it("changes what GRUB reads, and only that", async () => {
    await changeBoot(disk, "rd.shell=0", "rd.shell=1");
    expect(bash("dd if=disk bs=512 skip=3000 count=1 status=none | tr -d '\\0'")).toBe("linux root rd.shell=1");
    await expect(changeBoot(disk, "rd.shell=0", "rd.shell=1")).rejects.toThrow("There is no rd.shell=0");
  });

  it("cuts the power at the same moments for the same seed", () => {
    expect(momentsOf(1, 12, 60_000)).toEqual(momentsOf(1, 12, 60_000));
    expect(new Set(momentsOf(1, 12, 60_000)).size).toBe(12);
    expect(momentsOf(2, 12, 60_000)).not.toEqual(momentsOf(1, 12, 60_000));
  });
});
