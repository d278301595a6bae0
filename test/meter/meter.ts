import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { switchboard } from "#domain/jobs";
import worker from "../../src/index.ts";
import { withFate } from "../support/storage-faults.ts";

/** The resources that some work uses, in the units that Cloudflare counts. */
export interface Use {
  /** Requests to the Worker. */
  requests: number;
  /** Requests to objects. */
  calls: number;
  /** Round trips to D1, each with one statement or one batch. */
  queries: number;
  rowsRead: number;
  rowsWritten: number;
  /** Rows that objects write, including changes of their alarms. */
  objectRows: number;
  /** Class A operations of R2. */
  r2Writes: number;
  /** Class B operations of R2. */
  r2Reads: number;
  /** Messages sent to queues. */
  messages: number;
}

const nothing: Use = {
  requests: 0,
  calls: 0,
  queries: 0,
  rowsRead: 0,
  rowsWritten: 0,
  objectRows: 0,
  r2Writes: 0,
  r2Reads: 0,
  messages: 0,
};

const used = <T>(each: (of: keyof Use) => T) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of Use
  Object.fromEntries((Object.keys(nothing) as (keyof Use)[]).map((of) => [of, each(of)])) as Record<keyof Use, T>;

export const sumOf = (uses: readonly Use[]): Use => used((of) => uses.reduce((sum, use) => sum + use[of], 0));
export const times = (use: Use, n: number): Use => used((of) => use[of] * n);

/** Does some work, and counts the resources until nothing more happens. */
export async function meter(work: () => Promise<unknown>): Promise<Use> {
  const use = { ...nothing };
  let inFlight = 0;
  const requests = vi.spyOn(worker, "fetch");
  const rows = await countObjectRows(use);
  const endMessages = after(env.JOBS, "send", () => (use.messages += 1));
  await withFate(
    async (name, call) => {
      inFlight += 1;
      try {
        const result = await call();
        count(use, name, result);
        return result;
      } finally {
        inFlight -= 1;
      }
    },
    async () => {
      await work();
      await quiet(() => inFlight === 0);
    },
  );
  rows.end();
  endMessages();
  use.requests = requests.mock.calls.length;
  requests.mockRestore();
  return use;
}

/** Work that a request leaves running is done when no storage call has been in flight for many turns of the loop. */
async function quiet(isQuiet: () => boolean): Promise<void> {
  for (let turns = 0; turns < 20; turns = isQuiet() ? turns + 1 : 0) await scheduler.wait(1);
}

/** A queue's wake-ups reach these methods of objects at times of their own, and only on one machine. */
const ofMailbox = new Set(["put", "pull", "acknowledge", "wake"]);
const freeOfR2 = new Set(["delete", "abort"]);
const readsOfR2 = new Set(["get", "head"]);

function count(use: Use, name: string, result: unknown): void {
  const [place, verb = ""] = name.split(" ");
  if (place === "object") use.calls += ofMailbox.has(verb) ? 0 : 1;
  else if (place === "D1") countRows(use, result);
  else if (readsOfR2.has(verb)) use.r2Reads += 1;
  else if (!freeOfR2.has(verb)) use.r2Writes += 1;
}

function countRows(use: Use, result: unknown): void {
  use.queries += 1;
  for (const one of [result].flat()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every result of D1 has it, also that of `raw`
    const { meta } = one as D1Result;
    use.rowsRead += meta.rows_read;
    use.rowsWritten += meta.rows_written;
  }
}

/** Counts the rows of all objects. Their storages share their prototypes. */
async function countObjectRows(use: Use): Promise<{ end: () => void }> {
  const add = (rows: number) => (use.objectRows += rows);
  const undo = await runInDurableObject(switchboard(env), (_, { storage }) => [
    after(storage.sql, "exec", ([sql], cursor) => {
      if (!String(sql).includes("letters")) add((cursor as SqlStorageCursor<never>).rowsWritten);
    }),
    after(storage.kv, "put", () => add(1)),
    after(storage.kv, "delete", () => add(1)),
    after(storage, "setAlarm", () => add(1)),
  ]);
  return {
    end() {
      for (const one of undo) one();
    },
  };
}

/** Calls `seen` after each method call of all objects with this prototype. Returns a function that stops this. */
function after(one: object, name: string, seen: (args: unknown[], result: unknown) => void): () => void {
  const holder: object = Object.getPrototypeOf(one);
  const original: Function = Reflect.get(holder, name);
  Reflect.set(holder, name, function (this: unknown, ...args: unknown[]) {
    const result: unknown = Reflect.apply(original, this, args);
    seen(args, result);
    return result;
  });
  return () => void Reflect.set(holder, name, original);
}
