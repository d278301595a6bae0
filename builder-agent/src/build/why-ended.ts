import type { BuildFailed } from "../contract.ts";
import { freeBytes } from "../disk-room.ts";
import type { StopReason } from "../heartbeat.ts";
import { sentenceOf } from "../log.ts";
import { BuildFailure } from "./build-failure.ts";
import { withoutSecrets } from "./secrets.ts";

/** What a stopped build's work is broken off with. */
export class Stopped extends Error {
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super(`stopped: ${reason}`);
    this.name = "Stopped";
    this.reason = reason;
  }
}

/** The other reasons the Worker has given itself, or it needs no sentence. */
export const isToldToWorker = (reason: StopReason): boolean => reason === "time_limit" || reason === "no_room";

const full: BuildFailed = { kind: "error", reason: "The disk of the builder is full." };
const almostFull: BuildFailed = {
  kind: "error",
  reason: "The disk of the builder was almost full, so it stopped the build.",
};
/** With less free than this, a program may have failed on a full disk and had no room to say so in its log. */
const fullBytes = 64e6;

/**
 * The sentence for the owner; what is not the description's fault is ours, and tried again on another agent. To be asked while
 * the work directory is still there: its disk is looked at.
 */
export async function whyEnded(
  why: unknown,
  { timeLimitMs, stateDir }: { timeLimitMs: number; stateDir: string },
): Promise<BuildFailed> {
  if (why instanceof Stopped) {
    if (why.reason === "no_room") return almostFull;
    return { kind: "failed", reason: `The build took longer than ${Math.round(timeLimitMs / 60_000)} minutes.` };
  }
  const free = await freeBytes(stateDir).catch(() => Infinity);
  return free < fullBytes ? full : failureOf(why);
}

function failureOf(error: unknown): BuildFailed {
  if (error instanceof BuildFailure) return { kind: error.kind, reason: shown(error.message, maxReason) };
  const text = sentenceOf(error);
  if (/ENOSPC|No space left on device/.test(text)) return full;
  const missing = /spawn (\S+) ENOENT/.exec(text)?.[1];
  if (missing !== undefined) return { kind: "error", reason: `The program ${missing} is missing on the builder.` };
  return { kind: "error", reason: shown(text, 500) };
}

/** What the Worker takes. */
const maxReason = 2000;

const shown = (text: string, maxLength: number) => withoutSecrets(text).slice(0, maxLength);
