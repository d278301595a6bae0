import { tooFast } from "#domain/refusal";

/** A hash takes a tenth of a second of the isolate, and no request is answered meanwhile. */
const mostWaiting = 8;
/** Between two hashes other requests get as much time as a hash takes. */
const restMs = 100;
const lookEveryMs = 20;
/** The turn of a client that has left may never end. */
const longestTurnMs = 10_000;

let turns: { since: number }[] = [];
let restUntil = 0;

/** Hashes one password at a time. Refused when many wait already. */
export async function hashInTurn<T>(hash: () => Promise<T>): Promise<T> {
  const turn = { since: performance.now() };
  turns = turns.filter(({ since }) => since > performance.now() - longestTurnMs);
  if (turns.length >= mostWaiting) throw tooFast(2, "Many sign in at this moment. Wait a few seconds, then try again.");
  turns.push(turn);
  try {
    while (!isNext(turn)) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    return await hash();
  } finally {
    turns = turns.filter((other) => other !== turn);
    restUntil = performance.now() + restMs;
  }
}

function isNext(turn: { since: number }): boolean {
  turns = turns.filter((other) => other === turn || other.since > performance.now() - longestTurnMs);
  return turns[0] === turn && performance.now() >= restUntil;
}
