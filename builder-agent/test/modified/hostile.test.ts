import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerFrom } from "../../src/modified/answers.ts";
import { makeDisk, partitionAt, readingOf, type TestDisk } from "./disks.ts";

// Disks that a guest may leave, even one that controls QEMU. Reading a disk returns an answer or an error, and never
// another file.

const dir = mkdtempSync(join(tmpdir(), "kiln-hostile-"));
let disk: TestDisk;

beforeAll(() => {
  disk = makeDisk(dir, { "/etc/motd": "hello\n", "/srv/a/b/c": "c\n" }, { options: ["-b", "1024"] });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function list(overlay: string) {
  await using reading = await readingOf(disk.raw, overlay);
  const wanted = { kind: "list", withDifferences: true } as const;
  const order = { request: crypto.randomUUID(), filter: { paths: [], except: [] }, wanted };
  return await answerFrom(reading, order, AbortSignal.timeout(200_000));
}

/** A copy of the disk with changed bytes in its file system. The overlay contains all of it. */
function overlayWith(change: (fileSystem: Buffer) => void): string {
  const bytes = readFileSync(disk.raw);
  change(bytes.subarray(partitionAt));
  const [raw, overlay] = [join(dir, "hostile.raw"), join(dir, "hostile.qcow2")];
  writeFileSync(raw, bytes);
  execFileSync("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", "-F", "raw", "-B", disk.raw, raw, overlay]);
  return overlay;
}

const superblock = 1024;

describe("a damaged file system", () => {
  it.each<[string, (fileSystem: Buffer) => void]>([
    ["blocks of 2^70 bytes", (fs) => fs.writeUInt32LE(60, superblock + 0x18)],
    ["inodes of one byte", (fs) => fs.writeUInt16LE(1, superblock + 0x58)],
    ["no inodes in a group", (fs) => fs.writeUInt32LE(0, superblock + 0x28)],
    ["unknown features", (fs) => fs.writeUInt32LE(0xffffffff, superblock + 0x60)],
    ["no magic number", (fs) => fs.writeUInt16LE(0, superblock + 0x38)],
    ["an inode table after the end", (fs) => fs.writeUInt32LE(0xffffffff, 2048 + 8)],
    ["only ones in all tables", (fs) => fs.fill(0xff, 2048, 2_000_000)],
  ])("with %s is refused", async (_, change) => {
    await expect(list(overlayWith(change))).rejects.toThrow();
  });

  it("is refused if a directory contains its parent", async () => {
    const overlay = disk.overlay(["link /srv /srv/a/loop"]);
    await expect(list(overlay)).rejects.toThrow("damaged");
  });

  // Flips bytes at positions that are the same in every run.
  it("does not keep the agent busy, whichever byte is wrong", async () => {
    for (let round = 0; round < 15; round++) {
      const overlay = overlayWith((fs) => {
        for (let flip = 0; flip < 200; flip++)
          fs[(round * 7919 + flip * 104_729) % 600_000] = (round * 31 + flip) & 0xff;
      });
      await list(overlay).catch((error: Error) => expect(error.name).not.toBe("TimeoutError"));
    }
  });
});

/** A new overlay with a changed header. */
const head = (change: (head: Buffer) => void): string => {
  const overlay = join(dir, "head.qcow2");
  copyFileSync(disk.overlay([]), overlay);
  const bytes = readFileSync(overlay);
  change(bytes);
  writeFileSync(overlay, bytes);
  return overlay;
};

describe("a hostile overlay", () => {
  it.each<[string, (head: Buffer) => void]>([
    ["names a file for its data", (bytes) => bytes.writeBigUInt64BE(4n, 72)],
    ["is encrypted", (bytes) => bytes.writeUInt32BE(1, 32)],
    ["has clusters of 2^60 bytes", (bytes) => bytes.writeUInt32BE(60, 20)],
    ["has a table of 32 GB", (bytes) => bytes.writeUInt32BE(0xffffffff, 36)],
    ["is not an overlay", (bytes) => bytes.write("none", 0)],
  ])("that %s is refused", async (_, change) => {
    await expect(list(head(change))).rejects.toThrow("The session's disk cannot be read");
  });

  it("that names another base file is still read over the image", async () => {
    const overlay = head((bytes) => {
      const at = Number(bytes.readBigUInt64BE(8));
      bytes.fill(0, at, at + bytes.readUInt32BE(16));
      bytes.write("/etc/shadow", at);
    });
    expect(await list(overlay)).toMatchObject({ kind: "list", files: [] });
  });
});

/** The number of the block with the content of /etc/motd. */
function blockOfMotd(): string {
  const place = `${disk.raw}?offset=${partitionAt}`;
  return execFileSync("debugfs", ["-R", "blocks /etc/motd", place], { encoding: "utf8", stdio: "pipe" }).trim();
}

async function motdIn(overlay: string): Promise<string> {
  await using reading = await readingOf(disk.raw, overlay);
  const { after } = reading.sides;
  const motd = await after.at("/etc/motd");
  if (!motd) throw new Error("no file");
  return Buffer.concat(await Array.fromAsync(after.content(motd))).toString("latin1");
}

describe("a journal", () => {
  beforeAll(() => {
    const content = Buffer.alloc(1024);
    content.write("later\n");
    writeFileSync(join(dir, "block"), content);
  });

  it("is used if the file system was not unmounted", async () => {
    expect(await motdIn(disk.overlay(["jo", `jw -b ${blockOfMotd()} block`, "jc"]))).toBe("later\n");
  });

  it("lists blocks that no longer count", async () => {
    const block = blockOfMotd();
    const overlay = disk.overlay(["jo", `jw -b ${block} block`, `jw -r ${block}`, "jc"]);
    expect(await motdIn(overlay)).toBe("hello\n");
  });

  it("returns a block that starts with the journal's mark unchanged", async () => {
    const marked = Buffer.alloc(1024);
    marked.write("\xc0\x3b\x39\x98\n", "latin1");
    writeFileSync(join(dir, "marked"), marked);
    const overlay = disk.overlay(["jo", `jw -b ${blockOfMotd()} marked`, "jc"]);
    expect(await motdIn(overlay)).toBe("\xc0\x3b\x39\x98\n\0");
  });
});
