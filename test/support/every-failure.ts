import { expect, it } from "vitest";
import { away, withFate, type Fate } from "./storage-faults.ts";

/** One run of some work that makes storage calls. It repeats failed calls, like the service's clients. */
export interface Run {
  /** The current step. */
  readonly step: string;
  toTheEnd: () => Promise<void>;
  /** Expects that nothing is lost and nothing exists twice. */
  expectWhole: (outage?: Service) => Promise<void>;
}

export interface Work {
  begin: () => Promise<Run>;
  /** The steps in which a call must have failed. Otherwise the test would prove nothing. */
  steps: string[];
  /** Called after all runs of a kind of fault. */
  atTheEnd?: () => Promise<void>;
}

export type Service = keyof typeof outageMs;
/** Longer than a lease, and longer than the time for which an agent repeats most calls. */
const outageMs = { D1: 40_000, R2: 40_000, object: 40_000 };

/**
 * Makes each storage call of some work fail: once before it is done, once after it is done, and for 40 s together with
 * all other calls of the same service. The calls are those of a run without faults.
 */
export function survivesEveryFailure({ begin, steps, atTheEnd }: Work): void {
  it.each(Object.entries(faults))("survives that any call fails %s", async (_, faultOf) => {
    const failed = new Set<string>();
    for (const wanted of await callsOf(await begin())) {
      const run = await begin();
      const fault = faultOf((name) => `${run.step}: ${name}` === wanted);
      await withFate(fault.fate, () => run.toTheEnd()).catch((error: unknown) => failedAt(wanted, error));
      if (fault.hasHappened()) failed.add(wanted.split(": ")[0] ?? "");
      await run.expectWhole(fault.outage()).catch((error: unknown) => failedAt(wanted, error));
    }
    await atTheEnd?.();
    // Queue consumers and alarms make calls at their own times, so a single call may not occur again. But some calls of
    // each step do.
    expect([...failed].toSorted()).toEqual(steps.toSorted());
  });
}

const failedAt = (call: string, cause: unknown) =>
  Promise.reject(new Error(`${call}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));

/** The calls that a run makes, each once per step. */
async function callsOf(run: Run): Promise<string[]> {
  const calls = new Set<string>();
  const note: Fate = async (name, call) => {
    calls.add(`${run.step}: ${name}`);
    return await call();
  };
  await withFate(note, () => run.toTheEnd());
  return [...calls];
}

interface Fault {
  fate: Fate;
  hasHappened: () => boolean;
  /** The service that was unavailable for a while. */
  outage: () => Service | undefined;
}
type FaultOf = (isWanted: (name: string) => boolean) => Fault;

const once =
  (fail: Fate): FaultOf =>
  (isWanted) => {
    let hasHappened = false;
    const fate: Fate = async (name, call) => {
      if (hasHappened || !isWanted(name)) return await call();
      hasHappened = true;
      return await fail(name, call);
    };
    return { fate, hasHappened: () => hasHappened, outage: () => undefined };
  };

const outage: FaultOf = (isWanted) => {
  let service: Service | undefined;
  let endsAt = 0;
  const fate: Fate = async (name, call) => {
    const own = serviceOf(name);
    if (service === undefined && isWanted(name)) {
      service = own;
      endsAt = Date.now() + outageMs[own];
    }
    return own === service && Date.now() < endsAt ? away(name) : await call();
  };
  return { fate, hasHappened: () => service !== undefined, outage: () => service };
};

const serviceOf = (name: string): Service => (["D1", "R2"] as const).find((each) => name.startsWith(each)) ?? "object";

const faults: Record<string, FaultOf> = {
  "once, instead of being done": once(async (name) => away(name)),
  "once, after it was done": once(async (name, call) => {
    await call();
    away(name);
  }),
  "for 40 s": outage,
};

/** Repeats a call while the service is at fault. `pass` advances the time between two attempts. */
export async function insist(
  what: string,
  call: () => Promise<Response>,
  pass: (answer: Response) => Promise<void>,
): Promise<Response> {
  for (let n = 0; n < 60; n += 1) {
    const answer = await call();
    if (answer.ok || answer.status === 101) return answer;
    if (answer.status < 500 && answer.status !== 409) throw new Failed(what, answer.status, await answer.text());
    await pass(answer);
  }
  throw new Error(`${what} fails forever`);
}

/** An answer that does not change if the request is repeated. */
export class Failed extends Error {
  readonly status: number;
  constructor(what: string, status: number, text: string) {
    super(`${what}: ${status} ${text}`);
    this.status = status;
  }
}
