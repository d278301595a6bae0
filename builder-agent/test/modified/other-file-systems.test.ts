import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rawDisk } from "../../src/modified/disk.ts";
import { rootFileSystem } from "../../src/modified/file-system.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { partitionAt } from "./disks.ts";

const mebibytes = 320;

describe("a disk whose root is not ext4", () => {
  it.each(["xfs", "btrfs"])("is refused with its file system's name: %s", async (name) => {
    await using dir = await temporaryDir();
    const [disk, partition] = [join(dir.path, "disk"), join(dir.path, "partition")];
    for (const [file, size] of [
      [disk, mebibytes + 2],
      [partition, mebibytes],
    ] as const)
      execFileSync("truncate", ["-s", `${size}M`, file]);
    execFileSync(`mkfs.${name}`, [partition], { stdio: "pipe" });
    execFileSync("sfdisk", ["--quiet", disk], { input: "label: dos\nstart=2048, type=83\n" });
    const copy = [`if=${partition}`, `of=${disk}`, "bs=1M", `seek=${partitionAt >> 20}`, "conv=notrunc,sparse"];
    execFileSync("dd", copy, { stdio: "pipe" });

    await using file = await open(disk);
    const opened = rootFileSystem(rawDisk(file, (await file.stat()).size));
    await expect(opened).rejects.toThrow(`its file system is ${name}, and only ext4 can be read.`);
  });
});
