import { add, nothing, type Tally } from "./tally.ts";
import { passedBefore, recordFile, recordPasses, WholePasses } from "./guest-record.ts";
import { notRun } from "./guests.ts";
import type { TestEvent } from "./event.ts";

export interface GuestRun {
  root: string;
  /** The digests of all guest tests at this moment. Undefined if they are unknown, so that no test counts as passed. */
  digestsNow: () => ReadonlyMap<string, string> | undefined;
  /** Whether to also run the tests whose digest has passed. */
  isAll: boolean;
  /** Runs the guest tests, with these additions to the environment. */
  run: (env: Record<string, string>, onEvent: (event: TestEvent) => void) => Promise<Tally>;
}

/**
 * Runs the guest tests that have not passed with their current digest, lists the others, and records those that pass.
 */
export async function runGuests({ root, digestsNow, isAll, run }: GuestRun): Promise<Tally> {
  const before = digestsNow();
  const known = before === undefined || isAll ? [] : passedBefore(root, before);
  for (const { test, digest, passedOn, machine } of known)
    console.log(`Not run: ${test}. Its digest ${digest.slice(0, 12)} passed on ${passedOn}, on ${machine["system"]}.`);
  const skipped = known.reduce((sum, { tests }) => sum + tests, 0);
  const rest: Tally = skipped === 0 ? nothing : { ...nothing, skipped };
  if (before !== undefined && known.length === before.size) return rest;

  const passes = new WholePasses();
  const tally = await run({ [notRun]: known.map(({ test }) => test).join(",") }, (event) => passes.note(event));
  // A failed run may have a cause outside all test files.
  const isSound = tally.failures.every((failure) => failure.startsWith("test/"));
  const after = isSound && before !== undefined ? digestsNow() : undefined;
  const passed = [...passes.get()].flatMap(([test, tests]) => {
    const digest = after?.get(test);
    // A test whose files have changed since the start has not been tested.
    return digest !== undefined && digest === before?.get(test) ? [{ test, digest, tests }] : [];
  });
  recordPasses(root, passed);
  for (const { test } of passed) console.log(`Recorded in ${recordFile}: ${test} passed. Commit it.`);
  return add(tally, rest);
}
