import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { compressionOf, decompressed } from "#lib/repodata/decompress";
import { concatenate } from "#lib/repodata/streams";
import { bytesOf, collected, expectFault, inChunks, noOthers, textOf } from "./support.ts";

const text = "<metadata>".repeat(20_000);
const [gzip, zstd] = [new Uint8Array(gzipSync(text)), new Uint8Array(zstdCompressSync(text))];
const xzMagic = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 9, 9);
const open = async (bytes: Uint8Array, chunkBytes = 1000) =>
  textOf(await collected(await decompressed(inChunks(bytes, chunkBytes), noOthers)));

describe("decompressed", () => {
  it.each([
    ["gzip", gzip, text],
    ["gzip in single bytes", gzip, text, 1],
    ["gzip of two members", concatenate([gzip, gzip]), text + text],
    ["zstd", zstd, text],
    ["zstd of two frames", concatenate([zstd, zstd]), text + text],
    ["zstd of two frames in one chunk", concatenate([zstd, zstd]), text + text, 1 << 20],
    ["plain bytes", bytesOf(text), text],
    ["a document shorter than a magic number", bytesOf("<a/>"), "<a/>", 1],
    ["an empty file", new Uint8Array(0), ""],
  ])("opens %s", async (_, bytes, expected, chunkBytes = 1000) => {
    const opened = await open(bytes, chunkBytes);
    expect(opened.length).toBe(expected.length);
    expect(opened === expected).toBe(true); // `toBe` on the texts would print 400 KB
  });

  it.each([
    ["xz", xzMagic],
    ["bzip2", bytesOf("BZh91AY&SY")],
  ])("passes %s to the other decompressor, whole", async (kind, bytes) => {
    const given: string[] = [];
    const opened = await decompressed(inChunks(bytes, 3), (which, stream) => {
      given.push(which);
      return stream;
    });
    expect(await collected(opened)).toEqual(bytes);
    expect(given).toEqual([kind]);
  });

  it.each(["gzip", "zstd"] as const)("refuses %s that is cut off anywhere", async (kind) => {
    const whole = kind === "gzip" ? gzip : zstd;
    for (let length = 8; length < whole.byteLength; length += Math.ceil(whole.byteLength / 25)) {
      await expectFault(open(whole.subarray(0, length)), "damaged_compression", new RegExp(kind));
    }
    await expectFault(open(whole.subarray(0, -1)), "damaged_compression");
  });

  it.each([
    ["gzip", gzip],
    ["zstd", zstd],
  ])("refuses %s with data after it", async (_, bytes) => {
    for (const chunkBytes of [bytes.byteLength, 1 << 20]) {
      await expectFault(open(concatenate([bytes, bytesOf("<html>behind</html>")]), chunkBytes), "damaged_compression");
    }
  });

  it("refuses damaged gzip", async () => {
    const damaged = gzip.slice();
    damaged[20] = (damaged[20] ?? 0) ^ 0xff;
    await expectFault(open(damaged), "damaged_compression");
    await expectFault(open(concatenate([gzip.subarray(0, -8), new Uint8Array(8)])), "damaged_compression");
  });

  it("passes the error of its source on unchanged", async () => {
    const lost = new Error("connection lost");
    let reads = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (reads++ === 0) controller.enqueue(gzip.slice(0, 50));
        else controller.error(lost);
      },
    });
    const work = async () => collected(await decompressed(source, noOthers));
    await expect(work()).rejects.toBe(lost);
  });

  it("returns the first bytes before it has decompressed the rest", async () => {
    const bomb = new Uint8Array(gzipSync(new Uint8Array(64 << 20)));
    const reader = (await decompressed(inChunks(bomb, bomb.byteLength), noOthers)).getReader();
    const { value } = await reader.read();
    expect(value?.byteLength).toBeLessThanOrEqual(1 << 16);
    await reader.cancel();
  });

  it("cancels its source when its reader stops", async () => {
    let cancelled = false;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(gzip),
      cancel: () => void (cancelled = true),
    });
    const reader = (await decompressed(source, noOthers)).getReader();
    await reader.read();
    await reader.cancel();
    expect(cancelled).toBe(true);
  });
});

describe("compressionOf", () => {
  it("does not mistake part of a magic number for all of it", () => {
    expect(compressionOf(bytesOf("BZ"))).toBe("none");
    expect(compressionOf(xzMagic.subarray(0, 5))).toBe("none");
  });
});
