import { expect, it, vi } from "vitest";
import { SingleFlight } from "#domain/single-flight";
import { patienceMs } from "../support/patience.ts";

/** Work that the test ends explicitly; `begun` counts its runs. */
function heldWork() {
  const begun: PromiseWithResolvers<void>[] = [];
  const work = async () => {
    const run = Promise.withResolvers<void>();
    begun.push(run);
    await run.promise;
  };
  const isBegun = (count: number) => vi.waitFor(() => expect(begun).toHaveLength(count), patienceMs);
  return { begun, work, isBegun };
}

it("shares the next run between all who ask during one", async () => {
  const { begun, work, isBegun } = heldWork();
  const writes = new SingleFlight(work, { gapMs: 0 });
  const ended: string[] = [];
  const ask = (name: string) => writes.run().then(() => ended.push(name));

  const first = ask("first");
  await isBegun(1);
  const others = [ask("second"), ask("third"), ask("fourth")];
  begun[0]?.resolve();
  await first;
  expect(ended).toEqual(["first"]);
  await isBegun(2);
  begun[1]?.resolve();
  await Promise.all(others);

  expect(ended).toEqual(["first", "second", "third", "fourth"]);
  expect(begun).toHaveLength(2);
});

it("fails for those who waited for the run that failed, and for no others", async () => {
  const { begun, work, isBegun } = heldWork();
  const writes = new SingleFlight(work, { gapMs: 0 });
  const first = writes.run();
  await isBegun(1);
  const second = writes.run();
  begun[0]?.reject(new Error("R2 is away"));
  await expect(first).rejects.toThrow("R2 is away");
  await isBegun(2);
  begun[1]?.resolve();
  await second;
});

it("waits between two runs, also after one that failed", async () => {
  const begunAt: number[] = [];
  const work = async () => {
    begunAt.push(performance.now());
    if (begunAt.length === 2) throw new Error("R2 is away");
  };
  const writes = new SingleFlight(work, { gapMs: 50 });

  await writes.run();
  await expect(writes.run()).rejects.toThrow("R2 is away");
  await writes.run();

  const [first = 0, second = 0, third = 0] = begunAt;
  expect(second - first).toBeGreaterThanOrEqual(49);
  expect(third - second).toBeGreaterThanOrEqual(49);
});
