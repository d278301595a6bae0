import { gzipSync, zstdCompressSync } from "node:zlib";
import { packTar } from "modern-tar";
import { describe, expect, it } from "vitest";
import { type ArchiveLimits, archiveLimits, packagesOfArchive } from "#lib/repodata/archive";
import { concatenate } from "#lib/repodata/streams";
import { bytesOf, collected, expectFault, inChunks, noOthers, textOf } from "./support.ts";

type Member = Parameters<typeof packTar>[0][number];
const file = (name: string, body = `bytes of ${name}`): Member => ({ header: { name, size: body.length }, body });
const link = (type: "symlink" | "link", name: string): Member => ({
  header: { name, size: 0, type, linkname: "/etc/passwd" },
});
const device = (type: "fifo" | "character-device" | "block-device"): Member => ({
  header: { name: "a.rpm", size: 0, type },
});
const folder = (name: string): Member => ({ header: { name, size: 0, type: "directory" } });

async function unpacked(archive: Uint8Array, limits: Partial<ArchiveLimits> = {}, chunkBytes = 700) {
  const found: Record<string, string> = {};
  const rpms = packagesOfArchive(inChunks(archive, chunkBytes), noOthers, { ...archiveLimits, ...limits });
  for await (const { fileName, stream } of rpms) found[fileName] = textOf(await collected(stream));
  return found;
}

/** A copy in which one byte of the first header is changed and the checksum is recomputed. */
function withHeaderByte(archive: Uint8Array, at: number, value: number): Uint8Array {
  const changed = archive.slice();
  changed[at] = value;
  changed.fill(32, 148, 156);
  const sum = changed.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  changed.set(bytesOf(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return changed;
}

describe("packagesOfArchive", () => {
  it("returns the RPMs and skips folders and other files", async () => {
    const tar = await packTar([
      folder("rpms/"),
      file("rpms/a-1-1.noarch.rpm"),
      file("README"),
      file("b.rpm", ""),
      file(".rpm"),
    ]);
    expect(await unpacked(tar)).toEqual({ "a-1-1.noarch.rpm": "bytes of rpms/a-1-1.noarch.rpm", "b.rpm": "" });
  });

  it("reads long names and names that are not ASCII", async () => {
    const long = `${"folder/".repeat(40)}paket-ä-${"x".repeat(120)}.rpm`;
    expect(Object.values(await unpacked(await packTar([file(long, "body")])))).toEqual(["body"]);
  });

  it.each([
    ["gzip", (tar: Uint8Array) => new Uint8Array(gzipSync(tar))],
    ["zstd", (tar: Uint8Array) => new Uint8Array(zstdCompressSync(tar))],
  ])("opens %s", async (_, compress) => {
    expect(await unpacked(compress(await packTar([file("a.rpm", "body")])))).toEqual({ "a.rpm": "body" });
  });

  it("continues after an RPM that was not read", async () => {
    const tar = await packTar([file("a.rpm", "a".repeat(5000)), file("b.rpm", "body")]);
    const names: string[] = [];
    for await (const { fileName, stream } of packagesOfArchive(inChunks(tar, 700), noOthers)) {
      names.push(fileName);
      await stream.cancel();
    }
    expect(names).toEqual(["a.rpm", "b.rpm"]);
  });

  it.each([
    ["a symbolic link", [link("symlink", "a.rpm")]],
    ["a hard link", [link("link", "a.rpm")]],
    ["a link that is not an RPM", [link("symlink", "README")]],
    ["a pipe", [device("fifo")]],
    ["a device", [device("block-device")]],
    ["an absolute path", [file("/etc/a.rpm")]],
    ["a path that leaves the archive", [file("rpms/../../a.rpm")]],
    ["a path with a backslash", [file("..\\a.rpm")]],
    ["a path with a line break", [file("a\n.rpm")]],
  ])("refuses %s, and everything after it", async (_, members) => {
    await expectFault(
      packTar([...members, file("good.rpm")]).then((tar) => unpacked(tar)),
      "malformed_archive",
    );
  });

  it.each([
    ["a page", bytesOf("<html>404</html>".repeat(100))],
    ["an empty file", new Uint8Array(0)],
    ["an RPM", concatenate([Uint8Array.of(0xed, 0xab, 0xee, 0xdb), new Uint8Array(2000)])],
  ])("refuses %s", async (_, bytes) => {
    await expectFault(unpacked(bytes), "malformed_archive");
  });

  it("refuses an archive that is cut off", async () => {
    const tar = await packTar([file("a.rpm", "a".repeat(5000))]);
    for (const length of [100, 512, 600, 3000, 5600, tar.byteLength - 1024]) {
      await expectFault(unpacked(tar.subarray(0, length)), "malformed_archive");
    }
  });

  it("reports that the archive ends within an RPM", async () => {
    const tar = await packTar([file("a.rpm", "a".repeat(5000))]);
    const rpms = packagesOfArchive(inChunks(tar.subarray(0, 3000), 700), noOthers);
    const { value } = await rpms.next();
    await expectFault(collected(value?.stream ?? inChunks("")), "malformed_archive");
  });

  it("refuses damaged headers and data after the end", async () => {
    const tar = await packTar([file("a.rpm")]);
    const damaged = tar.slice();
    damaged[3] = 0x78;
    await expectFault(unpacked(damaged), "malformed_archive", /checksum/);
    await expectFault(unpacked(concatenate([tar, bytesOf("behind")])), "malformed_archive");
    await expectFault(unpacked(withHeaderByte(tar, 124, 0xff)), "malformed_archive");
  });

  it("enforces its limits", async () => {
    const three = await packTar([file("a.rpm"), file("b.rpm"), file("c")]);
    await expectFault(unpacked(three, { members: 2 }), "too_large", /members/);
    await expectFault(unpacked(three, { packages: 1 }), "too_large", /packages/);
    await expectFault(unpacked(three, { packageBytes: 3 }), "too_large");
    await expectFault(unpacked(three, { maxBytes: 1000 }), "too_large");
    const zeros = new Uint8Array(gzipSync(await packTar([file("a.rpm", "\0".repeat(32 << 20))])));
    await expectFault(unpacked(zeros), "too_large", /decompresses to more/);
  });
});
