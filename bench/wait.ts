import { setTimeout as sleep } from "node:timers/promises";

export interface Wait {
  seconds: number;
  everyMs: number;
}

/** Looks again and again until there is something; fails with what was waited for. */
export async function waitUntil<T>(
  what: string,
  { seconds, everyMs }: Wait,
  look: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > until) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await sleep(everyMs);
  }
}
