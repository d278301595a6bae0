import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, linkSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTar, type TarEntry } from "../../src/guest/tar.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { header, member, theEnd } from "./tar-bytes.ts";

/** Bytes as a disk returns them. The pieces match no boundary. */
async function* inPieces(bytes: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** All members, with their contents joined. */
async function read(bytes: Buffer): Promise<(TarEntry & { content: Buffer })[]> {
  const members = [];
  for await (const { entry, pieces } of readTar(inPieces(bytes))) {
    const content = Buffer.alloc(Math.min(entry.size, 64 * 1024 * 1024));
    for await (const { position, bytes: piece } of pieces) piece.copy(content, position);
    members.push({ ...entry, content });
  }
  return members;
}

const tar = (dir: string) =>
  execFileSync("tar", ["-c", "--format=gnu", "--sparse", "--numeric-owner", "--sort=name", "-C", dir, "root"], {
    maxBuffer: 64 * 1024 * 1024,
  });

describe("readTar", () => {
  it("reads GNU tar's files, links, long names, owners and holes", async () => {
    await using dir = await temporaryDir();
    const root = join(dir.path, "root");
    const long = "l".repeat(120);
    mkdirSync(join(root, long, long), { recursive: true });
    writeFileSync(join(root, "file"), "hello");
    writeFileSync(join(root, long, long, "Grüße"), "deep");
    linkSync(join(root, "file"), join(root, "second"));
    symlinkSync(`/${long}/${long}/x`, join(root, "soft"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    await using sparse = await open(join(root, "sparse"), "w");
    for (let at = 0; at < 40; at++) await sparse.write(`piece ${at}`, at * 1024 * 1024);
    truncateSync(join(root, "sparse"), 41 * 1024 * 1024);

    const members = await read(tar(dir.path));

    const named = new Map(members.map((each) => [each.name, each]));
    expect(named.get("root")).toMatchObject({ type: "d", size: 0 });
    expect(named.get("root/file")).toMatchObject({ type: "f", size: 5, content: Buffer.from("hello") });
    expect(named.get(`root/${long}/${long}/Grüße`)?.content.toString()).toBe("deep");
    expect(named.get("root/second")).toMatchObject({ type: "h", target: "root/file" });
    expect(named.get("root/soft")).toMatchObject({ type: "l", target: `/${long}/${long}/x` });
    expect(named.get("root/pipe")).toMatchObject({ type: "p" });
    expect(named.get("root/sparse")?.size).toBe(41 * 1024 * 1024);
    expect(named.get("root/sparse")?.content.equals(readFileSync(join(root, "sparse")))).toBe(true);
  });

  it("skips names that are not UTF-8 and members that were not read", async () => {
    const bytes = Buffer.concat([
      member({ name: Buffer.from([0x72, 0xff]) }, "not read"),
      member({ name: "root/a", uid: 2 ** 31 }, "a"),
      theEnd,
    ]);
    const entries = [];
    for await (const { entry } of readTar(inPieces(bytes))) entries.push(entry);
    expect(entries).toMatchObject([{ name: undefined }, { name: "root/a", uid: 2 ** 31 }]);
  });

  it.each<[string, Buffer, RegExp]>([
    ["a name that leaves the folder", member({ name: "root/../../etc/shadow" }), /the name "root\/\.\.\//],
    ["an absolute name", member({ name: "/etc/shadow" }), /the name "\/etc/],
    ["the name of a directory itself", member({ name: "./root" }), /the name "\.\/root"/],
    ["an empty name", member({ name: "" }), /the name ""/],
    [
      "a long name that leaves the folder",
      Buffer.concat([member({ name: "L", flag: "L" }, "a/../b\0"), member({})]),
      /the name "a\/\.\./,
    ],
    ["an endless name", member({ name: "L", flag: "L", size: 2 ** 30 }), /a name is not terminated/],
    ["an extension of POSIX", member({ name: "x", flag: "x" }, "30 path=/etc/shadow\n"), /type "x"/],
    ["a member of several volumes", member({ flag: "M" }), /type "M"/],
    ["a link with bytes", member({ flag: "2", size: 512 }), /bytes where none are allowed/],
    ["a wrong checksum", Buffer.concat([header({}).fill("z", 0, 1), theEnd]), /wrong checksum/],
    ["an invalid number", header({ rawSize: "12x45678901\0" }), /a number is invalid/],
    [
      "a size that is too large",
      header({ rawSize: Buffer.from([0x80, ...Array<number>(11).fill(0xff)]) }),
      /too large/,
    ],
    ["a negative size", header({ rawSize: Buffer.from(Array<number>(12).fill(0xff)) }), /a number is invalid/],
    ["an empty disk", Buffer.alloc(0), /it ends too early/],
    ["no end mark", member({}, "a"), /it ends too early/],
    ["a file that is cut off", header({ size: 4096 }), /it ends too early/],
    ["a disk of noise", Buffer.alloc(4096, 0x51), /it is not a tar stream/],
    ["a disk image", Buffer.concat([Buffer.from("QFI\u{FB}"), Buffer.alloc(4096)]), /it is not a tar stream/],
  ])("refuses %s", async (_, bytes, why) => {
    await expect(read(bytes)).rejects.toThrow(why);
  });

  it.each<[string, [number, number][], number, number]>([
    ["after the end", [[1024, 512]], 512, 1024],
    [
      "on top of each other",
      [
        [0, 512],
        [256, 512],
      ],
      1024,
      4096,
    ],
    [
      "backwards",
      [
        [2048, 512],
        [0, 512],
      ],
      1024,
      4096,
    ],
    ["that are longer than the stored bytes", [[0, 1024]], 512, 4096],
    ["that are shorter than the stored bytes", [[0, 512]], 1024, 4096],
  ])("refuses a sparse file with pieces %s", async (_, extents, size, realSize) => {
    const bytes = Buffer.concat([header({ flag: "S", size, extents, realSize }), Buffer.alloc(size), theEnd]);
    await expect(read(bytes)).rejects.toThrow(/refused/);
  });
});
