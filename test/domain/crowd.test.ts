import { afterEach, expect, it, vi } from "vitest";
import { Crowd } from "#domain/operation/crowd";

afterEach(() => vi.useRealTimers());

/** Requests that are answered when the test says so, and how many were refused. */
function crowded() {
  const crowd = new Crowd();
  const ends: (() => void)[] = [];
  let refused = 0;
  const ask = async (key: string, times: number) => {
    for (let n = 0; n < times; n++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      crowd
        .join(key, () => promise)
        .then(
          () => undefined,
          () => (refused += 1),
        );
      ends.push(resolve);
    }
    await Promise.resolve();
    await Promise.resolve();
    const now = refused;
    refused = 0;
    return now;
  };
  return { ask, endAll: () => ends.splice(0).forEach((end) => end()) };
}

it("refuses nobody below a hundred requests, and whoever sends more than that", async () => {
  const { ask } = crowded();
  expect(await ask("192.0.2.1", 100)).toBe(0);
  expect(await ask("192.0.2.1", 3)).toBe(3);
});

it("answers those who have less than their share", async () => {
  const { ask } = crowded();
  await ask("192.0.2.1", 100);
  expect(await ask("192.0.2.2", 60)).toBe(10);
  expect(await ask("192.0.2.3", 40)).toBe(6);
});

it("has an end, however many addresses ask", async () => {
  const { ask } = crowded();
  let refused = 0;
  for (let n = 0; n < 1000; n++) refused += await ask(`2001:db8::${n}`, 1);
  expect(refused).toBeGreaterThanOrEqual(600);
});

it("has room again when requests are answered", async () => {
  const { ask, endAll } = crowded();
  await ask("192.0.2.1", 101);
  endAll();
  await Promise.resolve();
  await Promise.resolve();
  expect(await ask("192.0.2.1", 100)).toBe(0);
});

it("does not wait for uploads that drip, nor for requests that the runtime dropped", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { ask } = crowded();
  await ask("192.0.2.1", 100);
  vi.advanceTimersByTime(5_001);
  expect(await ask("192.0.2.1", 100)).toBe(0);
});
