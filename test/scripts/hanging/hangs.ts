import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";

it("ends", () => {
  expect(1).toBe(1);
});

it("fails", () => {
  expect(1, "one is two").toBe(2);
});

it("never ends", async () => {
  await setTimeout(500); // vitest reports tests in batches, every tenth of a second
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // even vitest's own time limit cannot end it
});
