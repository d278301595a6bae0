import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { print, step } from "../../scripts/launch/progress.ts";

let printed = "";
const isTerminal = process.stdout.isTTY;

beforeEach(() => {
  printed = "";
  process.stdout.isTTY = true;
  vi.useFakeTimers();
  vi.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((printed += String(text))));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.stdout.isTTY = isTerminal;
});

/** The text that a terminal shows: the end of each line, after the last time that it was cleared. */
const seen = () => printed.split("\n").map((line) => line.split("\u001b[2K").at(-1));

it("shows steps that run side by side in one line, and each at its end", async () => {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const both = ["Worker bundle", "Tiny Linux"].map((title, at) => step(title, async () => ends[at]?.promise));
  vi.advanceTimersByTime(1000);
  expect(seen()).toEqual([expect.stringMatching(/Worker bundle 1\.0 s, Tiny Linux 1\.0 s/)]);

  print("a message");
  ends[0].resolve();
  await both[0];
  vi.advanceTimersByTime(1000);
  expect(seen()).toEqual(["a message", "✓ Worker bundle (1.0 s)", expect.stringMatching(/^\S Tiny Linux 2\.0 s/)]);

  ends[1].resolve();
  await both[1];
  expect(seen().slice(2)).toEqual(["✓ Tiny Linux (2.0 s)", ""]);
});
