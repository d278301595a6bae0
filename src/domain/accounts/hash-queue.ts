import { tooFast } from "#domain/refusal";

/** A hash takes a tenth of a second of the isolate, and no request is answered meanwhile. */
const maxWaiting = 8;
/** Between two hashes other requests get as much time as a hash takes. */
const restMs = 100;
const checkEveryMs = 20;
/** A client that has left may stay in the queue forever: its entry is removed after this. */
const maxWaitMs = 10_000;

interface Entry {
  since: number;
}

let queue: Entry[] = [];
let restUntil = 0;

/** Hashes one password at a time. Refused if too many are waiting. */
export async function hashOneAtATime<T>(hash: () => Promise<T>): Promise<T> {
  const entry = { since: performance.now() };
  queue = queue.filter(({ since }) => since > performance.now() - maxWaitMs);
  if (queue.length >= maxWaiting)
    throw tooFast(2, "Too many sign-ins at the moment. Wait a few seconds, then try again.");
  queue.push(entry);
  try {
    while (!isNext(entry)) await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
    return await hash();
  } finally {
    queue = queue.filter((other) => other !== entry);
    restUntil = performance.now() + restMs;
  }
}

function isNext(entry: Entry): boolean {
  queue = queue.filter((other) => other === entry || other.since > performance.now() - maxWaitMs);
  return queue[0] === entry && performance.now() >= restUntil;
}
