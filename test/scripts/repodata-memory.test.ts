/** Memory use of streaming: the reader runs in its own process, to measure its own peak. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const reader = `
import { gzipSync, zstdCompressSync } from "node:zlib";
import { decompressed } from "#lib/repodata/decompress";
const compress = { gzip: gzipSync, zstd: zstdCompressSync }[process.argv[1]];
const member = compress(new Uint8Array(64 << 20));
const bomb = new Uint8Array(Buffer.concat(Array.from({ length: 16 }, () => member)));
const source = new ReadableStream({ start(controller) { controller.enqueue(bomb); controller.close(); } });
const before = process.resourceUsage().maxRSS;
let bytes = 0;
for await (const chunk of await decompressed(source, () => source)) bytes += chunk.byteLength;
console.log(JSON.stringify({ bytes, grownKiB: process.resourceUsage().maxRSS - before }));
`;

describe("decompressed", () => {
  it.each(["gzip", "zstd"])("opens a gigabyte of zeros in one %s chunk with bounded memory", (kind) => {
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", reader, kind], {
      encoding: "utf8",
    });
    const { bytes, grownKiB } = JSON.parse(output) as { bytes: number; grownKiB: number };
    expect(bytes).toBe(2 ** 30);
    expect(grownKiB).toBeLessThan(96 * 1024);
  });
});
