import { describe, expect, it } from "vitest";
import { readWhole } from "#http/whole-body";

/** Returns three bytes at a time. */
function bodyOf(bytes: number) {
  const seen = { bytes: 0 };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (seen.bytes >= bytes) return controller.close();
      controller.enqueue(new Uint8Array(3).fill(seen.bytes));
      seen.bytes += 3;
    },
  });
  return { stream, seen };
}

describe("readWhole", () => {
  it("returns a body of exactly the maximum size", async () => {
    expect(await readWhole(bodyOf(9).stream, 9)).toEqual(Uint8Array.from([0, 0, 0, 3, 3, 3, 6, 6, 6]));
    expect(await readWhole(bodyOf(0).stream, 9)).toEqual(new Uint8Array());
  });

  it("returns nothing for a longer body, and does not read on", async () => {
    const { stream, seen } = bodyOf(3000);
    expect(await readWhole(stream, 9)).toBeUndefined();
    expect(seen.bytes).toBeLessThan(20);
  });
});
