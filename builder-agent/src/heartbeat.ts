import { setTimeout as sleep } from "node:timers/promises";
import { heartbeatEveryMs, type Heartbeat } from "./contract.ts";
import { sentenceOf, type Log } from "./log.ts";
import { RemoteRefusal } from "./retry.ts";

/** Why a build is to stop although nothing is wrong with it. */
export type StopReason = "cancelled" | "late" | "released" | "time_limit" | "no_room";

export interface HeartbeatOptions {
  send: (beat: Heartbeat, signal: AbortSignal) => Promise<{ cancel: boolean }>;
  beat: () => Heartbeat;
  onStop: (reason: StopReason) => void;
  log: Log;
  everyMs?: number;
}

export interface HeartbeatLoop {
  /** There is news: beat soon. */
  nudge(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** News travel at most this often, and a lost heartbeat is sent again after this: the lease outlives several of them. */
const soonMs = 1_000;

/** Keeps the lease of one build while it lives, and says when it is lost or the build was cancelled. */
export function startHeartbeat({
  send,
  beat,
  onStop,
  log,
  everyMs = heartbeatEveryMs,
}: HeartbeatOptions): HeartbeatLoop {
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
