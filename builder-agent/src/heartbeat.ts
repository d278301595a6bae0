import { setTimeout as sleep } from "node:timers/promises";
import { heartbeatEveryMs, type Heartbeat } from "./contract.ts";
import { sentenceOf, type Log } from "./log.ts";
import { RemoteRefusal } from "./retry.ts";

/** Why a build must stop although nothing is wrong with it. */
export type StopReason = "cancelled" | "late" | "released" | "time_limit" | "no_room";

export interface HeartbeatOptions {
  send: (beat: Heartbeat, signal: AbortSignal) => Promise<{ cancel: boolean }>;
  beat: () => Heartbeat;
  onStop: (reason: StopReason) => void;
  log: Log;
  everyMs?: number;
}

export interface HeartbeatLoop {
  /** Sends a heartbeat soon, because there is news. */
  nudge(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The shortest time between heartbeats. A failed one is repeated after this time, several times before the lease ends.
 */
const soonMs = 1_000;

/** Renews the lease of one build. Reports when the lease is lost or the build is cancelled. */
export function startHeartbeat(options: HeartbeatOptions): HeartbeatLoop {
  const { send, beat, onStop, log, everyMs = heartbeatEveryMs } = options;
  const ending = new AbortController();
  let nudged = Promise.withResolvers<void>();

  const once = async (): Promise<"ok" | "failed"> => {
    try {
      const answer = await send(beat(), ending.signal);
      if (answer.cancel) onStop("cancelled");
      return "ok";
    } catch (error) {
      if (ending.signal.aborted) return "ok";
      if (error instanceof RemoteRefusal && error.status === 410) onStop("late");
      else log("heartbeat failed", { reason: sentenceOf(error) });
      return "failed";
    }
  };
  const loop = (async () => {
    while (!ending.signal.aborted) {
      const result = await once();
      await pause(Math.min(soonMs, everyMs), ending.signal);
      if (result === "ok") await Promise.race([nudged.promise, pause(Math.max(0, everyMs - soonMs), ending.signal)]);
      nudged = Promise.withResolvers();
    }
  })();

  return {
    nudge: () => nudged.resolve(),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await loop;
    },
  };
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
