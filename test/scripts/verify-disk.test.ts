/** How the verification reads encrypted disks, with a disk that the real cryptsetup has encrypted. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Chance } from "../../scripts/chance.ts";
import { sample } from "../../scripts/verify/disk/cuts-proof.ts";
import {
  changeBoot,
  copyFromMachine,
  copyPartition,
  decryptRoot,
  differencesBetween,
  partitionsOf,
  progressOf,
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

/** Takes three of 30 items. */
const chosen = (seed: number) => {
  const next = sample(new Chance(seed), 3);
  const kept: number[] = [];
  for (let each = 0; each < 30; each++) kept[(next() ?? 100) - 1] = each;
  return kept.slice(0, 3);
};

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

  it("cuts the power at moments that are equally likely, and the same for the same seed", () => {
    expect(chosen(1)).toEqual(chosen(1));
    const counts = Array.from({ length: 30 }, () => 0);
    for (let seed = 0; seed < 3000; seed++) for (const each of chosen(seed)) counts[each] = (counts[each] ?? 0) + 1;
    expect(Math.min(...counts)).toBeGreaterThan(200);
    expect(Math.max(...counts)).toBeLessThan(400);
  });

  it("sees how far an encryption is, on a disk that a machine has", async () => {
    bash("qemu-img convert -O qcow2 disk machine");
    const { header } = await partitionsOf(disk);
    await copyFromMachine(join(dir, "machine"), header, join(dir, "copied"));
    expect(await progressOf(join(dir, "copied"))).toEqual({ bytes: Infinity, marked: false, finished: true });
    bash(String.raw`
      truncate -s 16M begun
      cryptsetup reencrypt --encrypt --init-only --batch-mode --type luks2 --header begun-header --key-file key \
        --pbkdf pbkdf2 --pbkdf-force-iterations 1000 begun`);
    expect(await progressOf(join(dir, "begun-header"))).toEqual({ bytes: 0, marked: false, finished: false });
  });
});
