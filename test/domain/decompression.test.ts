import { expect, it } from "vitest";
import { withDecompressor, type Opening } from "#domain/rpms/decompression";
import { solverPool } from "#lib/solver/shared";
import { loopTurns } from "../support/loop-turns.ts";

// 32 MiB of zeros, compressed by bzip2.
const zeros = Uint8Array.from(atob("QlpoOTFBWSZTWaIgopoBAQHAAMAAAAggADCAKRtoAgGiAQDi7kinChIURBRTQA=="), (character) =>
  character.charCodeAt(0),
);
const limits = { maxBytes: 2 ** 40, maxRatio: Number.POSITIVE_INFINITY };
const archive = (accountId: number): Opening => ({ accountId, compression: "bzip2", what: "archive", limits });

/** The zeros, repeated this many times, in one chunk. */
const streamOf = (times: number) =>
  new Blob(Array.from({ length: times }, () => zeros)).stream() as ReadableStream<Uint8Array>;

const opened = (times: number, accountId = 1) =>
  withDecompressor(archive(accountId), async (other) => {
    let bytes = 0;
    for await (const chunk of other("bzip2", streamOf(times))) bytes += chunk.byteLength;
    return bytes;
  });

it("decompresses without stopping the loop", async () => {
  expect(await loopTurns(() => opened(1))).toBeGreaterThan(60);
});

it("does not occupy the solver", async () => {
  await withDecompressor(archive(1), async () => {
    await solverPool.withEmptySolver((solver) => expect(solver.isGone).toBe(false));
  });
});

it("opens less than what other compressions may open", async () => {
  await expect(opened(17)).rejects.toMatchObject({ reason: "too_large" });
});

it("lets accounts take turns", async () => {
  const order: number[] = [];
  const open = (accountId: number) => withDecompressor(archive(accountId), async () => void order.push(accountId));
  await Promise.all([1, 1, 1, 2].map(open));
  expect(order).toEqual([1, 2, 1, 1]);
});

it("refuses an account's archives beyond those that wait", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = Array.from({ length: 4 }, () => withDecompressor(archive(1), () => promise));
  await expect(opened(1)).rejects.toMatchObject({ reason: "too_fast" });
  resolve();
  await Promise.all(held);
});
