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
