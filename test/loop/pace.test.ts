import { describe, expect, it, vi } from "vitest";
import { answering, rest } from "#lib/loop/pace";

/** Blocks the loop for this time. */
function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Records each turn of the loop while the work runs. */
async function turnsDuring(work: Promise<unknown>, note: () => void): Promise<void> {
  const { signal, abort } = stopping();
  const ended = work.finally(abort);
  while (!signal.aborted) {
    await scheduler.wait(0);
    note();
  }
  await ended;
}

function stopping() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

async function longWork(slices: number, { ms = 2 } = {}): Promise<void> {
  for (let done = 0; done < slices; done++) {
    await rest();
    compute(ms);
  }
}

describe("long work", () => {
  it("gives the loop to others every few milliseconds", async () => {
    let turns = 0;
    await turnsDuring(longWork(100), () => turns++);
    expect(turns).toBeGreaterThan(20);
  });

  it("does not rest before it has worked for some milliseconds", async () => {
    compute(6);
    // A busy machine can take the processor away for longer than one slice.
    const frozen = performance.now();
    using _ = vi.spyOn(performance, "now").mockReturnValue(frozen);
    await rest();
    let others = 0;
    void scheduler.wait(0).then(() => others++);
    for (let calls = 0; calls < 20; calls++) await rest();
    expect(others).toBe(0);
  });

  it("rests by its calls where the clock stands still", async () => {
    const frozen = performance.now();
    using _ = vi.spyOn(performance, "now").mockReturnValue(frozen);
    let others = 0;
    void scheduler.wait(0).then(() => others++);
    for (let calls = 0; calls < 200; calls++) await rest();
    expect(others).toBe(1);
  });

  it("rests until a request of others is answered", async () => {
    const { signal, abort } = stopping();
    let slices = 0;
    const work = (async () => {
      for (; !signal.aborted; slices++) await longWork(1, { ms: 6 });
    })();
    await longWork(1, { ms: 6 });
    const before = slices;
    await answering(async () => {
      for (let step = 0; step < 10; step++) await scheduler.wait(0);
    });
    expect(slices - before).toBeLessThan(5);
    abort();
    await work;
  });

  it("goes on after a while, even if there are always requests", async () => {
    const { signal, abort } = stopping();
    const requests = (async () => {
      while (!signal.aborted) await Promise.all([answering(() => scheduler.wait(20)), scheduler.wait(10)]);
    })();
    await longWork(30);
    abort();
    await requests;
  });

  it("does not wait for requests that take long", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = answering(() => promise);
    await scheduler.wait(600);
    let turns = 0;
    await turnsDuring(longWork(5, { ms: 6 }), () => turns++);
    // Each of five rests would take 50 ms.
    expect(turns).toBeLessThan(40);
    resolve();
    await waiting;
  });

  it("does not wait for the request that it belongs to", async () => {
    let turns = 0;
    await turnsDuring(
      answering(() => longWork(5, { ms: 6 })),
      () => turns++,
    );
    expect(turns).toBeLessThan(40);
  });

  it("gives the loop to others between the slices of several works", async () => {
    let [inARow, most] = [0, 0];
    const slices = Array.from({ length: 3 }, async () => {
      for (let slice = 0; slice < 30; slice++) {
        await longWork(1, { ms: 6 });
        most = Math.max(most, ++inARow);
      }
    });
    await turnsDuring(Promise.all(slices), () => (inARow = 0));
    expect(most).toBe(1);
  });

  it("shares the loop fairly between works", async () => {
    const done = [0, 0, 0];
    const works = done.map(async (_, nth) => {
      for (; (done[nth] ?? 0) < 30; done[nth] = (done[nth] ?? 0) + 1) await longWork(1, { ms: 6 });
    });
    await Promise.race(works);
    expect(Math.min(...done)).toBeGreaterThan(25);
    await Promise.all(works);
  });
});
