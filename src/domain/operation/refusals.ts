import { writePoint } from "#domain/operation/points";
import { logFailure } from "#log/log";
import { addToCounters } from "#storage/counters";
import { openDatabase } from "#storage/db";

/** A statement takes a hundred values. */
const mostAtOnce = 20;
const writeAfterMs = 1_000;
/** If the request that was to write was ended before, another one does. */
const lostAfterMs = 10_000;

/** Of this isolate, and not yet in the database. */
const pending = new Map<string, number>();
let writesAt = -Infinity;

interface Answered {
  env: Pick<Env, "DB" | "METRICS">;
  waitUntil: (work: Promise<void>) => void;
}

/** Counts an answer that is an error. An isolate writes once a second at most, however many there are. */
export function countRefusal({ env, waitUntil }: Answered, { code, status }: { code: string; status: number }): void {
  writePoint(env, "refusals", [code, String(status)]);
  add(`${code} ${status}`, 1);
  if (Date.now() < writesAt + lostAfterMs) return;
  writesAt = Date.now() + writeAfterMs;
  waitUntil(write(env));
}

const add = (label: string, value: number) => pending.set(label, (pending.get(label) ?? 0) + value);

async function write(env: Pick<Env, "DB">): Promise<void> {
  await scheduler.wait(writeAfterMs);
  writesAt = -Infinity;
  while (pending.size > 0) {
    const taken = [...pending]
      .slice(0, mostAtOnce)
      .map(([label, value]) => ({ name: "refusals", label, value }) as const);
    for (const { label } of taken) pending.delete(label);
    try {
      await addToCounters(openDatabase(env.DB), taken, new Date());
    } catch (error) {
      for (const { label, value } of taken) add(label, value);
      logFailure("refusals are counted later", error);
      return;
    }
  }
}
