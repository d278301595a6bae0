import { afterEach, expect, it, vi } from "vitest";
import { whileAllowed } from "#http/event-stream";
import { stopClock } from "../support/clock.ts";

/** A stream checks from time to time whether its client may still read. */

const numbers = async function* (count: number): AsyncGenerator<number> {
  for (let n = 0; n < count; n += 1) yield n;
};

const silent = async function* (): AsyncGenerator<number> {
  yield await new Promise<number>(() => {});
};

afterEach(() => void vi.useRealTimers());

it("does not ask for each value", async () => {
  const isAllowed = vi.fn(async () => true);
  expect(await Array.fromAsync(whileAllowed(numbers(1000), isAllowed))).toHaveLength(1000);
  expect(isAllowed).not.toHaveBeenCalled();
});

it("shows nothing that comes 15 seconds after the last answer before it has asked again", async () => {
  stopClock();
  let may = true;
  const isAllowed = vi.fn(async () => may);
  const values = whileAllowed(numbers(10), isAllowed);
  const after = async (ms: number) => {
    vi.setSystemTime(Date.now() + ms);
    return (await values.next()).value;
  };
  expect([await after(0), await after(14_999)]).toEqual([0, 1]);
  expect(isAllowed).not.toHaveBeenCalled();
  expect(await after(1)).toBe(2);
  expect(isAllowed).toHaveBeenCalledOnce();
  may = false;
  expect([await after(14_999), await after(1), await after(0)]).toEqual([3, undefined, undefined]);
});

it("ends a silent stream, too", async () => {
  const answers = [true, true, false];
  const isAllowed = vi.fn(async () => answers.shift() ?? false);
  expect(await Array.fromAsync(whileAllowed(silent(), isAllowed, 5))).toEqual([]);
  expect(isAllowed).toHaveBeenCalledTimes(3);
});
