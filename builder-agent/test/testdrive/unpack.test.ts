import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HostileArchive } from "../../src/testdrive/container.ts";
import { unpackDisk } from "../../src/testdrive/unpack.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";

const mebi = 1024 * 1024;
const container = { suffix: "raw" };
const signal = new AbortController().signal;

/** A disk with bytes at both ends and a hole between them. */
function disk(bytes = 4 * mebi): Buffer {
  const content = Buffer.alloc(bytes);
  content.write("first");
  content.write("last", bytes - 4);
  return content;
}

/** Runs tar with these arguments to make an archive in `dir`. Names without a folder are in the folder `a`. */
function pack(dir: string, ...args: string[]): string {
  execFileSync("tar", ["-czf", "image.tar.gz", ...args, inFolder], { cwd: dir, stdio: ["ignore", "ignore", "ignore"] });
  return join(dir, "image.tar.gz");
}

const inFolder = "--transform=s,^\\([^/]*\\)$,a/\\1,";

describe("unpackDisk", () => {
  it.each([
    ["GNU's format", ["--format=gnu"]],
    ["extended headers", ["--format=pax"]],
  ])("unpacks a sparse disk from an archive with %s", async (_, options) => {
    await using dir = await temporaryDir();
    mkdirSync(join(dir.path, "Kiosk.x86_64-0.0.1"));
    const file = join(dir.path, "Kiosk.x86_64-0.0.1/Kiosk.x86_64-0.0.1.raw");
    writeFileSync(file, disk());
    execFileSync("fallocate", ["--dig-holes", file]);
    const archive = pack(dir.path, ...options, "--sparse", "Kiosk.x86_64-0.0.1");
    const into = join(dir.path, "out");
    await unpackDisk(archive, into, { container, rawSize: 4 * mebi, signal });
    expect(disk().equals(await readFile(into))).toBe(true);
    expect((await stat(into)).blocks * 512).toBeLessThan(mebi);
  });

  it.each<[string, (dir: string) => string, RegExp]>([
    ["an absolute name", (dir) => pack(dir, "-P", "--transform=s,^,/etc/,", "a.raw"), /not a disk of a build/],
    ["a name that leaves the folder", (dir) => pack(dir, "-P", "--transform=s,^,../,", "a.raw"), /contains '..'/],
    ["a name in another directory", (dir) => pack(dir, "--transform=s,^,dir/,", "a.raw"), /not a valid name of a disk/],
    ["a name with a line break", (dir) => pack(dir, "--transform=s,a,a\\nb,", "a.raw"), /not a disk of a build/],
    ["a name that is an option", (dir) => pack(dir, "--transform=s,a.raw,--help.raw,", "./a.raw"), /not a disk of/],
    ["another kind of file", (dir) => pack(dir, "--transform=s,raw,qcow2,", "a.raw"), /no disk in it/],
    ["two disks", (dir) => pack(dir, "a.raw", "b.raw"), /more than one/],
    ["a second disk of the same name", (dir) => pack(dir, "a.raw", "--transform=s,b,a,", "b.raw"), /more than one/],
    ["a symbolic link", (dir) => pack(dir, "link.raw"), /"l.* is not a disk/],
    ["a file after a symbolic link", (dir) => pack(dir, "link.raw", "a.raw"), /is not a disk/],
    ["a hard link", (dir) => pack(dir, "a.raw", "hard.raw"), /more than one/],
    ["a directory", (dir) => pack(dir, "d.raw"), /"d.* is not a disk/],
    ["a device", (dir) => pack(dir, "--transform=s,null,null.raw,", "-C", "/dev", "null"), /"c.* is not a disk/],
    ["no files", (dir) => pack(dir, "--files-from=/dev/null"), /no disk in it/],
  ])("refuses an archive with %s", async (_, make, why) => {
    await using dir = await temporaryDir();
    writeFileSync(join(dir.path, "a.raw"), disk());
    writeFileSync(join(dir.path, "b.raw"), Buffer.alloc(0));
    linkSync(join(dir.path, "a.raw"), join(dir.path, "hard.raw"));
    symlinkSync("/etc/shadow", join(dir.path, "link.raw"));
    mkdirSync(join(dir.path, "d.raw"));
    const refused = unpackDisk(make(dir.path), join(dir.path, "out"), { container, rawSize: 4 * mebi, signal });
    await expect(refused).rejects.toThrow(HostileArchive);
    await expect(refused).rejects.toThrow(why);
  });

  it.each([
    ["larger", 4 * mebi - 1, /tar ended with/],
    ["smaller", 4 * mebi + 1, /announced/],
  ])("refuses a disk that is %s than announced", async (_, rawSize, why) => {
    await using dir = await temporaryDir();
    writeFileSync(join(dir.path, "a.raw"), disk());
    const archive = pack(dir.path, "a.raw");
    await expect(unpackDisk(archive, join(dir.path, "out"), { container, rawSize, signal })).rejects.toThrow(why);
  });

  it("stops an archive that would fill the disk", async () => {
    await using dir = await temporaryDir();
    execFileSync("truncate", ["--size=256M", join(dir.path, "a.raw")]);
    const archive = pack(dir.path, "a.raw");
    const into = join(dir.path, "out");
    await expect(unpackDisk(archive, into, { container, rawSize: 4 * mebi, signal })).rejects.toThrow(HostileArchive);
    expect(await readdir(dir.path)).toEqual(["a.raw", "image.tar.gz"]);
  });

  it("refuses a file that is not an archive", async () => {
    await using dir = await temporaryDir();
    writeFileSync(join(dir.path, "image.tar.gz"), "not packed at all");
    const refused = unpackDisk(join(dir.path, "image.tar.gz"), join(dir.path, "out"), {
      container,
      rawSize: mebi,
      signal,
    });
    await expect(refused).rejects.toThrow(HostileArchive);
  });

  it("ends immediately when the session does", async () => {
    await using dir = await temporaryDir();
    execFileSync("truncate", ["--size=256M", join(dir.path, "a.raw")]);
    const archive = pack(dir.path, "a.raw");
    const over = new AbortController();
    const unpacking = unpackDisk(archive, join(dir.path, "out"), {
      container,
      rawSize: 256 * mebi,
      signal: over.signal,
    });
    const refused = expect(unpacking).rejects.toThrow("the session is over");
    await eventually("it has begun", () => existsSync(join(dir.path, "out.unpacking/disk")));
    over.abort(new Error("the session is over"));
    await refused;
  });
});
