/** Runs the boot program on real disks that are larger than the image: loop devices, partitioned and mounted here. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-grow-root-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);

/** Disks as KIWI makes them: for BIOS only, and also for UEFI. */
const bios = String.raw`label: dos\nstart=2048, type=83, bootable\n`;
const uefi = String.raw`label: gpt\nsize=2048, type=21686148-6449-6E6F-744E-656564454649\nsize=20480, type=U\ntype=L, name=p.lxroot\n`;

interface Disk {
  table: string;
  /** The number of the root's partition. */
  root: number;
  before?: string;
  /** Default: ext4. */
  fileSystem?: string;
  /** The sizes of the image and of its disk, in MiB. */
  sizes?: readonly [number, number];
}

/** An image on a larger disk, mounted at `$at`; `$table` lists its partitions. Prints the output of `ask`. */
const onLargerDisk = (
  { table, root, before = "", fileSystem = "ext4", sizes: [image, whole] = [100, 300] }: Disk,
  ask: string,
): string =>
  inImage(
    {},
    `
    file=$(mktemp ${dir}/disk-XXXXXX); at=$(mktemp -d ${dir}/at-XXXXXX)
    truncate -s ${image}M $file
    printf '${table}' | sfdisk --quiet $file
    disk=$(losetup --find --show $file)
    trap 'umount $at 2> /dev/null || true; partx --delete $disk; losetup --detach $disk' EXIT
    partx --add $disk
    mkfs.${fileSystem} "$disk"p${root} > /dev/null 2>&1
    truncate -s ${whole}M $file
    losetup --set-capacity $disk
    ${before}
    mount "$disk"p${root} $at
    size() { echo $(($(blockdev --getsize64 "$disk"p${root}) >> 20)) $(df --output=size --block-size=1M $at | tail -1); }
    ${ask}
  `,
  ).trim();

/** Containers may lack CAP_SYS_RESOURCE. Then the kernel refuses to resize a mounted file system. */
const mayResize =
  ((BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]}`) >> 24n) & 1n) === 1n;

const sizesIn = (output: string) => {
  const [partition, fileSystem] = (output.split("\n").at(-1) ?? "").split(" ").map(Number);
  return { said: output, partition, fileSystem };
};

const grown = "/usr/lib/kiln/boot grow-root $at 2>&1; size";

describe("a root on a disk that is larger than its image", () => {
  it.each([
    ["BIOS", { table: bios, root: 1 }, 299],
    ["UEFI", { table: uefi, root: 3 }, 287],
  ])("grows to the end of the disk, with the table for %s", (_firmware, disk, mebibytes) => {
    const { said, partition, fileSystem } = sizesIn(onLargerDisk(disk, grown));
    expect([mebibytes - 1, mebibytes]).toContain(partition);
    if (mayResize) expect(fileSystem).toBeGreaterThan(mebibytes * 0.85);
    else expect(said).toContain("Permission denied to resize filesystem");
  });

  it.each(["xfs", "btrfs"])("grows with %s, and a second time has nothing to do", (fileSystem) => {
    const disk = { table: uefi, root: 3, fileSystem, sizes: [400, 700] } as const;
    const { said, partition, fileSystem: size } = sizesIn(onLargerDisk(disk, `${grown}; ${grown}`));
    expect(said).toMatch(/^68[67] \d+\n68[67] \d+$/m);
    expect(partition).toBeGreaterThan(685);
    expect(size).toBeGreaterThan(600);
  });

  it("keeps its files, its UUIDs and the other partitions", () => {
    const facts = `sha256sum < $at/file; blkid --output value --match-tag UUID "$disk"p3
      sfdisk --dump $disk 2> /dev/null | grep -v last-lba | sed '/p.lxroot/s/size= *[0-9]*//'`;
    const asked = `head -c 5M /dev/urandom > $at/file; before=$(${facts}); ${grown}
      [ "$before" = "$(${facts})" ] && echo same; umount $at; e2fsck -fn "$disk"p3 > /dev/null 2>&1 && echo clean`;
    const output = onLargerDisk({ table: uefi, root: 3 }, asked);
    expect(output).toMatch(/^28[67] .*\nsame\nclean$/m);
  });

  it("changes nothing the second time", () => {
    const table = "sha256sum < <(head -c 1M $disk)";
    const asked = `${grown}; once=$(${table}); ${grown}; [ "$once" = "$(${table})" ] && echo same`;
    const results = onLargerDisk({ table: bios, root: 1 }, asked).match(/^(\d+ \d+|same)$/gm);
    expect(results).toEqual([expect.stringMatching(/^29[89] /), expect.stringMatching(/^29[89] /), "same"]);
  });

  it("stays if another partition follows", () => {
    const table = String.raw`label: dos\nstart=2048, size=100000, type=83\ntype=82\n`;
    expect(onLargerDisk({ table, root: 1 }, grown)).toMatch(/^48 /);
  });

  const cloudInit = "printf '#!/bin/sh\\n' > /usr/bin/cloud-init; chmod 755 /usr/bin/cloud-init";

  it("stays if Kiln has configured cloud-init, which grows it itself", () => {
    const before = `${cloudInit}; mkdir -p /etc/cloud/cloud.cfg.d; touch /etc/cloud/cloud.cfg.d/95-kiln.cfg`;
    expect(onLargerDisk({ table: bios, root: 1, before }, grown)).toMatch(/^99 /);
  });

  it("grows if only the package cloud-init is there, which may stay off", () => {
    const { partition } = sizesIn(onLargerDisk({ table: bios, root: 1, before: cloudInit }, grown));
    expect([298, 299]).toContain(partition);
  });

  it("stays if there is no file system of that kind, or no partition", () => {
    const asked = `truncate -s 50M $at/plain; mkdir $at/on; mkfs.ext4 -q $at/plain; mount $at/plain $at/on
      /usr/lib/kiln/boot grow-root $at/on && /usr/lib/kiln/boot grow-root /proc && echo done; umount $at/on`;
    expect(onLargerDisk({ table: bios, root: 1 }, asked)).toBe("done");
  });
});
