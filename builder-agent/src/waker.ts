import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "./contract.ts";

export type Kind = Job["kind"];
export const kinds = ["build", "testdrive"] as const satisfies Kind[];

/** Ends a wait early. If no one waits, the next wait ends immediately. */
export function newWaker() {
  let woken = Promise.withResolvers<void>();
  let due = new Set<Kind>();
  return {
    /** Signals that there may be work of this kind, or of both kinds if none is given. */
    wake(kind?: Kind) {
      for (const each of kind ? [kind] : kinds) due.add(each);
      woken.resolve();
    },
    /** The kinds of work to look for, since the last time. */
    taken(): ReadonlySet<Kind> {
      const taken = due;
      due = new Set();
      woken = Promise.withResolvers();
      return taken;
    },
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      const over = new AbortController();
      const ended = AbortSignal.any([signal, over.signal]);
      await Promise.race([woken.promise, sleep(ms, undefined, { signal: ended }).catch(() => {})]);
      over.abort();
    },
  };
}

/** The time to the next pull: 1–2 s if there is work, then gradually up to 15 s, with jitter. */
export function pollDelayMs(idlePulls: number, random = Math.random()): number {
  const ceilingMs = Math.min(15_000, 2_000 * 1.25 ** Math.max(0, idlePulls - 3));
  return ceilingMs * (0.5 + random / 2);
}
