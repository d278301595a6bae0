import { describe, expect, it } from "vitest";
import { type RpmHeader, readRpmHeader, rpmFileName } from "#lib/repodata/rpm-header";
import { tapRpmHeader } from "#lib/repodata/rpm-header-tap";
import { collected, expectFault, inChunks } from "./support.ts";
import { type Tags, int16, int32, least, makeHeader, makeRpm, sha256, text, texts } from "./rpm-maker.ts";

function header(bytes: Uint8Array): RpmHeader {
  const reading = readRpmHeader(bytes);
  if ("needBytes" in reading) throw new Error(`needs ${reading.needBytes} bytes`);
  return reading.header;
}
const withTags = (tags: Tags) => makeRpm({ ...least, ...tags });
const announcing = (digest: string) => ({ signature: { 273: text(digest) } });

describe("readRpmHeader", () => {
  it("reads a package with only the required fields", () => {
    const read = header(makeRpm());
    expect(read).toMatchObject({ name: "tiny", epoch: 0, version: "1.0", release: "1", arch: "noarch" });
    expect(read).toMatchObject({ isSource: false, description: "", installedBytes: 0, files: [] });
    expect(read.relations.requires).toEqual([]);
    expect(rpmFileName(read)).toBe("tiny-1.0-1.noarch.rpm");
  });

  it("requests the bytes it needs, and none of the payload", () => {
    const rpm = makeRpm();
    let [length, asked] = [0, 0];
    for (; ; asked++) {
      const reading = readRpmHeader(rpm.subarray(0, length));
      if ("header" in reading) break;
      expect(reading.needBytes).toBeGreaterThan(length);
      length = reading.needBytes;
    }
    expect(asked).toBe(3);
    expect(length).toBe(rpm.byteLength - "payload".length);
  });

  it("requests more bytes for any cut-off file", () => {
    const rpm = makeRpm();
    for (let length = 0; length < rpm.byteLength - "payload".length; length++) {
      expect(readRpmHeader(rpm.subarray(0, length))).toHaveProperty("needBytes");
    }
  });

  it("reads 64-bit sizes, and the archive's size from the signature", () => {
    const sizes = makeRpm({ ...least, 5009: { type: 5, numbers: [5e9] } }, { signature: { 1007: int32(77) } });
    expect(header(sizes)).toMatchObject({ installedBytes: 5e9, archiveBytes: 77 });
  });

  it("reads Latin-1 texts of old packages", () => {
    const latin1 = { type: 6, count: 1, bytes: Uint8Array.of(0x48, 0xe4, 0x75, 0) };
    expect(header(withTags({ 1004: latin1 })).summary).toBe("Häu");
  });

  it("separates weak relations of old rpm versions by their flag", () => {
    const { relations } = header(
      withTags({
        1156: texts("a", "b"),
        1157: texts("", "1"),
        1158: int32(1 << 27, 8),
        1159: texts("c"),
        1160: texts(""),
        1161: int32(1 << 27),
      }),
    );
    expect(relations.recommends).toEqual([{ name: "a" }]);
    expect(relations.suggests).toEqual([{ name: "b", comparison: "EQ", evr: "1" }]);
    expect(relations.supplements).toEqual([{ name: "c" }]);
  });

  it("recognizes source packages, with and without their sources", () => {
    const { 1044: _, ...source } = least;
    expect(header(makeRpm(source))).toMatchObject({ isSource: true, arch: "src" });
    expect(header(makeRpm({ ...source, 1051: int32(0) }))).toMatchObject({ isSource: true, arch: "nosrc" });
  });

  it("checks the header's digest if there is one", async () => {
    expect(header(makeRpm(least, announcing(sha256(makeHeader(least))))).name).toBe("tiny");
    await expectFault(() => readRpmHeader(makeRpm(least, announcing("0".repeat(64)))), "malformed_package", /digest/);
  });

  it.each([
    ["another file", new TextEncoder().encode("PK\u0003\u0004 and so on")],
    ["a lead without headers", new Uint8Array(200).fill(1).map((_, at) => [0xed, 0xab, 0xee, 0xdb][at] ?? 0)],
    ["a name with a slash", withTags({ 1000: text("../../etc") })],
    ["a name that is empty", withTags({ 1000: text("") })],
    ["a version with white space", withTags({ 1001: text("1 0") })],
    ["an arch that is a folder", withTags({ 1022: text("..") })],
    ["a name that is a number", withTags({ 1000: int32(7) })],
    ["a size that is a text", withTags({ 1009: text("7") })],
    ["an unknown type", withTags({ 1004: { type: 77, count: 1, offset: 0 } })],
    ["a value outside the header", withTags({ 1004: { type: 6, count: 1, offset: 1e6 } })],
    ["a negative offset", withTags({ 1004: { type: 6, count: 1, offset: 0xffffffff } })],
    ["more numbers than the header can hold", withTags({ 1009: { type: 4, count: 0xffffffff, offset: 0 } })],
    ["more texts than the header can hold", withTags({ 1049: { type: 8, count: 0x7fffffff, offset: 0 } })],
    [
      "a text without an end",
      withTags({ 9999: { type: 6, count: 1, bytes: Uint8Array.of(65) }, 1020: { type: 6, count: 1, offset: 54 } }),
    ],
    ["requirements without versions", withTags({ 1049: texts("a", "b"), 1050: texts("1"), 1048: int32(0, 0) })],
    [
      "files without folders",
      withTags({ 1117: texts("a"), 1118: texts("/"), 1116: int32(), 1030: int16(0), 1037: int32(0) }),
    ],
    [
      "a file in no folder",
      withTags({ 1117: texts("a"), 1118: texts("/"), 1116: int32(7), 1030: int16(0), 1037: int32(0) }),
    ],
    ["files without modes", withTags({ 1117: texts("a"), 1118: texts("/"), 1116: int32(0) })],
    [
      "a path that is too long",
      withTags({
        1117: texts("a"),
        1118: texts(`/${"d".repeat(5000)}`),
        1116: int32(0),
        1030: int16(0),
        1037: int32(0),
      }),
    ],
  ])("refuses %s", async (_, bytes) => {
    await expectFault(() => readRpmHeader(bytes), "malformed_package");
  });

  it("refuses overlapping tags and endless lists", async () => {
    const names = { type: 8, count: 1000, bytes: new TextEncoder().encode("123456789\0".repeat(1000)) };
    const again = { type: 8, count: 1000, offset: 0 };
    const flags = int32(...Array.from({ length: 1000 }, () => 0));
    await expectFault(
      () => readRpmHeader(makeRpm({ 62: names, 1049: again, 1050: again, 1048: flags, ...least })),
      "malformed_package",
      /overlap/,
    );
    const endless = { type: 8, count: 2_100_000, bytes: new Uint8Array(2_100_000) };
    await expectFault(() => readRpmHeader(withTags({ 1117: endless })), "malformed_package", /values/);
  });

  it("refuses headers that announce gigabytes, before reading them", async () => {
    const rpm = makeRpm();
    for (const [at, value] of [
      [96 + 8, 0x7fffffff],
      [96 + 12, 0xfffffff0],
      [96 + 16 + 12, 0xfffffff0],
    ] as const) {
      const hostile = rpm.slice();
      new DataView(hostile.buffer).setUint32(at, value);
      await expectFault(() => readRpmHeader(hostile), "malformed_package");
    }
  });

  it("returns a fault or a header for any damaged header", () => {
    const rpm = withTags({
      1049: texts("a", "b"),
      1050: texts("1", ""),
      1048: int32(8, 0),
      1117: texts("a", "b"),
      1118: texts("/x/", "/y/"),
      1116: int32(0, 1),
      1030: int16(0, 0),
      1037: int32(0, 0),
    });
    for (let seed = 1; seed < 4000; seed++) {
      const damaged = rpm.slice();
      for (let hit = 0; hit < 1 + (seed % 4); hit++) {
        damaged[96 + ((seed * 7919 + hit * 104_729) % (rpm.byteLength - 96))] = (seed * 31 + hit * 17) & 0xff;
      }
      try {
        readRpmHeader(damaged);
      } catch (error) {
        expect(error).toMatchObject({ name: "RepodataFault", code: "malformed_package" });
      }
    }
  });
});

describe("tapRpmHeader", () => {
  it.each([1, 7, 100, 100_000])("passes the bytes on and returns the header, in chunks of %i", async (chunkBytes) => {
    const rpm = makeRpm(least, { payload: "p".repeat(3000) });
    const tapped = tapRpmHeader(inChunks(rpm, chunkBytes));
    expect(await collected(tapped.stream)).toEqual(rpm);
    expect((await tapped.header).name).toBe("tiny");
  });

  it.each([
    ["a file that is not an RPM", new TextEncoder().encode("x".repeat(1000))],
    ["an RPM cut off in its header", makeRpm().subarray(0, 200)],
    ["an RPM cut off in its lead", makeRpm().subarray(0, 3)],
    ["an empty file", new Uint8Array(0)],
    ["an RPM cut off in its payload", makeRpm(least, { signature: { 1000: int32(1e6) } })],
    ["an RPM with data after it", makeRpm(least, { signature: { 1000: int32(makeHeader(least).byteLength) } })],
  ])("fails the stream for %s", async (_, bytes) => {
    const tapped = tapRpmHeader(inChunks(bytes, 50));
    await expectFault(collected(tapped.stream), "malformed_package");
  });

  it("rejects the header if the upload breaks off", async () => {
    const tapped = tapRpmHeader(inChunks(makeRpm().subarray(0, 200), 50));
    await tapped.stream.cancel(new Error("gone"));
    await expect(tapped.header).rejects.toThrow("gone");
  });
});
