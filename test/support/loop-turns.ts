import { vi } from "vitest";

/**
 * Counts the turns of the event loop that other work gets while this work runs. The clock runs so fast that each
 * `rest()` is due, so the count does not depend on the speed of the machine.
 */
export async function loopTurns(work: () => Promise<unknown>): Promise<number> {
  let now = performance.now();
  using _ = vi.spyOn(performance, "now").mockImplementation(() => (now += 5));
  const ended = new AbortController();
  const working = work().finally(() => ended.abort());
  let turns = 0;
  for (; !ended.signal.aborted; turns++) await scheduler.wait(0);
  await working;
  return turns;
}
