import { setTimeout as sleep } from "node:timers/promises";

/** Polls every 200 ms; on failure, says what it waited for. */
export async function until<T>(what: string, seconds: number, probe: () => T | Promise<T>): Promise<NonNullable<T>> {
  const endsAt = Date.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > endsAt) throw new Error(`after ${seconds} s, this is not true: ${what}`);
    await sleep(200);
  }
}
