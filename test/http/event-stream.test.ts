import { afterEach, expect, it, vi } from "vitest";
import { whileAllowed } from "#http/event-stream";
import { merged } from "../../src/web/pages/appliance/builds/live.tsx";
import { stopClock } from "../support/clock.ts";

/** A stream checks from time to time whether its client may still read. */

const numbers = async function* (count: number): AsyncGenerator<number> {
  for (let n = 0; n < count; n += 1) yield n;
};

const silent = async function* (): AsyncGenerator<number> {
  yield await new Promise<number>(() => {});
};

/** A source whose first value comes immediately. The second one fails when the test chooses. */
function failing() {
  const { promise, reject } = Promise.withResolvers<number>();
  async function* source() {
    yield 1;
    yield await promise;
  }
  return { source: source(), fail: () => reject(new Error("the object is gone")) };
}

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

it.each<[string, (source: AsyncGenerator<number>) => AsyncGenerator<number>]>([
  ["one source", (source) => whileAllowed(source, async () => true)],
  ["several sources", (source) => merged([source, silent()])],
])("ignores the failure of %s whose client is gone", async (_, shown) => {
  const unhandled = vi.fn();
  process.once("unhandledRejection", unhandled);
  const { source, fail } = failing();
  const values = shown(source);
  expect(await values.next()).toEqual({ done: false, value: 1 });

  await values.return(undefined);
  fail();
  await scheduler.wait(10);

  expect(unhandled).not.toHaveBeenCalled();
  process.off("unhandledRejection", unhandled);
});
