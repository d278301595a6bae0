import type { BuildFailed } from "../contract.ts";
import type { FreeSpaceWatch } from "../disk-room.ts";
import type { StopReason } from "../heartbeat.ts";
import { sentenceOf } from "../log.ts";
import { BuildFailure } from "./failure.ts";
import { withoutSecrets } from "./secrets.ts";

/** Aborts the work of a stopped build. */
export class Stopped extends Error {
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super(`stopped: ${reason}`);
    this.name = "Stopped";
    this.reason = reason;
  }
}

/** The Worker gave the other reasons itself, or needs no message. */
export const isReported = (reason: StopReason): boolean => reason === "time_limit" || reason === "no_room";

const full: BuildFailed = { kind: "error", reason: "The disk of the builder is full." };
const almostFull: BuildFailed = {
  kind: "error",
  reason: "The disk of the builder was almost full, so it stopped the build.",
};
/** If less space than this was ever free, a program may have failed without room to log the reason. */
const fullBytes = 64e6;

/**
 * The message for the owner, and whose fault the failure is. If the description is not at fault, another agent retries
 * the build.
 * `space` watches the disk since the build began.
 */
export async function endReason(
  why: unknown,
  { timeLimitMs, space }: { timeLimitMs: number; space: FreeSpaceWatch },
): Promise<BuildFailed> {
  if (why instanceof Stopped) {
    if (why.reason === "no_room") return almostFull;
    return { kind: "failed", reason: `The build took longer than ${Math.round(timeLimitMs / 60_000)} minutes.` };
  }
  return (await space.least()) < fullBytes ? full : failureOf(why);
}

function failureOf(error: unknown): BuildFailed {
  if (error instanceof BuildFailure) return { kind: error.kind, reason: shown(error.message, maxReason) };
  const text = sentenceOf(error);
  if (/ENOSPC|No space left on device/.test(text)) return full;
  const missing = /spawn (\S+) ENOENT/.exec(text)?.[1];
  if (missing !== undefined) return { kind: "error", reason: `The program ${missing} is missing on the builder.` };
  return { kind: "error", reason: shown(text, 500) };
}

/** The most that the Worker accepts. */
const maxReason = 2000;

const shown = (text: string, maxLength: number) => withoutSecrets(text).slice(0, maxLength);
