import { writePoint } from "#domain/operation/points";
import { logFailure } from "#log/log";
import { addToCounters } from "#storage/counters";
import { type Databases, openDatabase } from "#storage/db";

/** A statement takes at most a hundred values. */
const maxAtOnce = 20;
const writeAfterMs = 1_000;
/** If the request that was going to write ended early, another one writes after this time. */
const lostAfterMs = 10_000;

/** Counts of this isolate that are not stored in the database yet. */
const pending = new Map<string, number>();
let writesAt = -Infinity;

interface Answered {
  env: Pick<Env, "METRICS"> & Databases;
  waitUntil: (work: Promise<void>) => void;
}

/** Counts an error answer. An isolate writes at most once a second. */
export function countRefusal({ env, waitUntil }: Answered, { code, status }: { code: string; status: number }): void {
  writePoint(env, "refusals", [code, String(status)]);
  add(`${code} ${status}`, 1);
  if (Date.now() < writesAt + lostAfterMs) return;
  writesAt = Date.now() + writeAfterMs;
  waitUntil(write(env));
}

const add = (label: string, value: number) => pending.set(label, (pending.get(label) ?? 0) + value);

async function write(env: Databases): Promise<void> {
  await scheduler.wait(writeAfterMs);
  writesAt = -Infinity;
  while (pending.size > 0) {
    const taken = [...pending]
      .slice(0, maxAtOnce)
      .map(([label, value]) => ({ name: "refusals", label, value }) as const);
    for (const { label } of taken) pending.delete(label);
    try {
      await addToCounters(openDatabase(env), taken, new Date());
    } catch (error) {
      for (const { label, value } of taken) add(label, value);
      logFailure("could not write the counts of refusals", error);
      return;
    }
  }
}
