import { networkOf } from "#domain/accounts/sign-in-throttle";
import { FairTurns } from "#domain/fair-turns";

const hashes = new FairTurns({
  // A hash blocks the isolate for a tenth of a second. In this time, no request is answered.
  atOnce: 1,
  waiting: 8,
  waitingPerKey: 2,
  maxWaitMs: 3000,
  maxTurnMs: 10_000,
  pauseMs: 100,
  message: "Too many sign-ins at the moment. Wait a few seconds, then try again.",
});

/** Hashes one password at a time. Addresses take turns, so that attackers do not keep others from signing in. */
export const hashOneAtATime = <T>(address: string | undefined, hash: () => Promise<T>): Promise<T> =>
  hashes.take(networkOf(address), hash);
