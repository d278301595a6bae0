import { setTimeout as sleep } from "node:timers/promises";
import { throughRestart } from "./client/through-restart.ts";
import type { Kiln } from "./kiln.ts";

/**
 * Waits for work of a builder, and reports when it is waiting and when it begins. Waits while the service restarts.
 *
 * @param last reads the latest work of that kind; undefined if there is none
 * @param begun the report when it begins
 */
export async function untilEnded<T extends { state: string; ended_at?: string }>(
  kiln: Pick<Kiln, "note">,
  last: () => Promise<T | undefined>,
  { waiting, begun }: { waiting: T["state"]; begun: string },
): Promise<T | undefined> {
  for (let before = ""; ;) {
    const work = before === "" ? await last() : await throughRestart(last);
    if (!work || work.ended_at !== undefined) return work;
    if (work.state !== before) kiln.note(work.state === waiting ? "Waiting for a builder." : begun);
    before = work.state;
    await sleep(2_000);
  }
}
