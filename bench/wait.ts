import { setTimeout as sleep } from "node:timers/promises";

export interface Wait {
  seconds: number;
  everyMs: number;
}

/** Calls `look` repeatedly until it returns something. At the time limit, throws an error that names `what`. */
export async function waitUntil<T>(
  what: string,
  { seconds, everyMs }: Wait,
  look: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > until) throw new Error(`timeout after ${seconds} s: waiting until ${what}`);
    await sleep(everyMs);
  }
}
