import { setTimeout as sleep } from "node:timers/promises";

/** The factor for time limits on a busy host, and the longest useful limit: a test has 1,200 seconds. */
const busy = { factor: 5, mostSeconds: 1_000 };

/**
 * Polls every 200 ms. On failure, the error names the condition. A limit only ends a test that hangs.
 *
 * @param seconds that are enough on an idle host
 */
export async function until<T>(what: string, seconds: number, probe: () => T | Promise<T>): Promise<NonNullable<T>> {
  const limit = Math.max(seconds, Math.min(busy.factor * seconds, busy.mostSeconds));
  const endsAt = Date.now() + limit * 1000;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > endsAt) throw new Error(`after ${limit} s, this is not true: ${what}`);
    await sleep(200);
  }
}
