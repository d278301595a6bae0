import { afterEach, expect, it, vi } from "vitest";
import { Unasked } from "../src/unasked.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The number of seconds until a claim is due. */
function dueAfter(unasked: Unasked, isConnected: boolean): number {
  for (let seconds = 1; ; seconds += 1) {
    vi.setSystemTime(Date.now() + 1000);
    if (unasked.isDue(isConnected)) return seconds;
  }
}

it.each([
  [false, 25, 75],
  [true, 1800, 5400],
])("claims without having been woken, connected: %s, after %i to %i s, again and again", (isConnected, least, most) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
  const unasked = new Unasked();
  expect([dueAfter(unasked, isConnected), dueAfter(unasked, isConnected)]).toEqual([least, most]);
});

it("claims soon after the socket was lost", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const unasked = new Unasked();
  vi.setSystemTime(Date.now() + 75_000);
  expect([unasked.isDue(true), unasked.isDue(false)]).toEqual([false, true]);
});
