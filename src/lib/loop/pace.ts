/**
 * On one machine, a single event loop runs the Worker, its objects, D1 and R2, so long work must yield to other work. A
 * request passes through the loop ten to twenty times, so short slices of work are not enough: work must also wait
 * until whole requests are answered.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** The longest time that work blocks the loop, if it calls `rest` often enough. */
const sliceMs = 5;
/**
 * The longest rest, in turns of the loop: then the next slice runs even if requests are waiting, so that the work ends.
 */
const longestRest = 25;
/** Requests that take longer wait for something else, such as a mirror, and work does not rest for them. */
const quickRequestMs = 500;
/** On Cloudflare the clock stops while code computes, so calls are counted too. */
const callsPerMoment = 64;

interface Request {
  begunAt: number;
}
const inFlight = new Set<Request>();
/** Resting work, in the order in which it continues. */
const resting = new Set<{ since: number }>();
/** Work that has rested for longer than this counts as dropped together with its request. */
const longRestMs = 1000;
const scope = new AsyncLocalStorage<Request>();

/** When work last resumed, and how often it has resumed. */
let resumedAt = 0;
let slices = 0;
let moment = { at: 0, calls: 0 };

/** Answers a request. Until then, long work of others rests longer. */
export async function answering<T>(answer: () => Promise<T>): Promise<T> {
  const request = { begunAt: performance.now() };
  inFlight.add(request);
  try {
    return await scope.run(request, answer);
  } finally {
    inFlight.delete(request);
  }
}

/**
 * Gives the loop to others if this isolate has worked for some milliseconds since the last rest. Long work calls this
 * after each piece that takes between a tenth of a millisecond and five.
 */
export async function rest(): Promise<void> {
  if (!isDue()) return;
  // Other work should not wait for a request that does long work itself.
  const own = scope.getStore();
  if (own) inFlight.delete(own);
  const work = { since: performance.now() };
  resting.add(work);
  let before;
  let turns = 0;
  do {
    before = slices;
    await turnOfTheLoop();
  } while (++turns < longestRest && (othersWait() || slices !== before || nextWork() !== work));
  resting.delete(work);
  slices += 1;
  resumedAt = performance.now();
}

function nextWork(): { since: number } | undefined {
  for (const work of resting) {
    if (work.since > performance.now() - longRestMs) return work;
    resting.delete(work);
  }
  return undefined;
}

// Not `scheduler.wait`, because tests and scripts in Node read packages too. Bound now, so that rests also end when a
// test replaces the clock.
const setTimer = globalThis.setTimeout.bind(globalThis);
const turnOfTheLoop = () => new Promise<void>((resolve) => setTimer(resolve, 1));

function isDue(): boolean {
  const now = performance.now();
  moment = { at: now, calls: moment.at === now ? moment.calls + 1 : 1 };
  if (moment.calls >= callsPerMoment) moment.calls = 0;
  return now - resumedAt >= sliceMs || moment.calls === 0;
}

function othersWait(): boolean {
  const now = performance.now();
  for (const request of inFlight) {
    // The runtime drops the request of a client that left, without running `finally`.
    if (request.begunAt < now - quickRequestMs) inFlight.delete(request);
  }
  return inFlight.size > 0;
}
