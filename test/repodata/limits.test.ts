import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decompressed } from "#lib/repodata/decompress";
import { atMost, inflationGuard } from "#lib/repodata/limits";
import { concatenate, readAtMost } from "#lib/repodata/streams";
import { counted, expectFault, inChunks, noOthers, zeros } from "./support.ts";

const mebibyte = 2 ** 20;

describe("atMost", () => {
  it("passes exactly the allowed number of bytes", async () => {
    expect(await counted(inChunks("123456").pipeThrough(atMost(6, "it")))).toBe(6);
  });

  it("stops an endless source soon after the limit", async () => {
    const { stream, counter } = zeros(1024 * mebibyte);
    await expectFault(counted(stream.pipeThrough(atMost(mebibyte, "repomd.xml"))), "too_large", /repomd\.xml/);
    expect(counter.givenBytes).toBeLessThan(2 * mebibyte);
  });

  it("keeps readAtMost from collecting more", async () => {
    await expectFault(readAtMost(inChunks("1234567"), 6, "it"), "too_large");
  });
});

describe("inflationGuard", () => {
  // A gigabyte of zeros: 64 gzip members of 16 MiB.
  const member = new Uint8Array(gzipSync(new Uint8Array(16 * mebibyte)));
  const bomb = concatenate(Array.from({ length: 64 }, () => member));
  const opened = async (limits: { maxBytes: number; maxRatio: number; graceBytes: number }) => {
    const guard = inflationGuard(limits, "primary.xml.gz");
    const stream = await decompressed(inChunks(bomb, 1 << 16).pipeThrough(guard.compressed), noOthers);
    return stream.pipeThrough(guard.opened);
  };

  it.each([
    ["its ratio", { maxBytes: 1024 * mebibyte, maxRatio: 200, graceBytes: 8 * mebibyte }],
    ["its size", { maxBytes: 8 * mebibyte, maxRatio: 5000, graceBytes: 8 * mebibyte }],
  ])("refuses a gigabyte of zeros by %s before decompressing it all", async (_, limits) => {
    let passedBytes = 0;
    const reading = async () => {
      for await (const chunk of await opened(limits)) passedBytes += chunk.byteLength;
    };
    await expectFault(reading(), "too_large", /primary\.xml\.gz/);
    expect(passedBytes).toBeLessThanOrEqual(40 * mebibyte);
  });

  it("passes allowed data, in small pieces", async () => {
    let [passedBytes, largest] = [0, 0];
    for await (const chunk of await opened({ maxBytes: 1024 * mebibyte, maxRatio: 5000, graceBytes: 0 })) {
      passedBytes += chunk.byteLength;
      largest = Math.max(largest, chunk.byteLength);
    }
    expect(passedBytes).toBe(1024 * mebibyte);
    expect(largest).toBeLessThanOrEqual(1 << 16);
  });
});
