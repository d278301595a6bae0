import { phases, type Phase } from "#lib/contract/index";
import { isOver, timeLimitMs, type BuildState } from "#domain/builds/machine";

/** The progress of a build as a user sees it, unfinished or ended. */
export interface Progress {
  state: BuildState["status"];
  /** 0..100. */
  percent: number;
  /** Seconds since the first attempt began. */
  secondsElapsed: number;
  message: string;
  /** The approximate remaining time of a running build. Absent if there is no basis for an estimate. */
  secondsLeft?: number;
  /** The position of a queued build; 1 is next. It is counted only when requested (domain/builds/queue.ts). */
  queuePosition?: number;
  /**
   * The phases of this attempt, in order. The last one may still be running. Absent if the build is queued or finished.
   */
  steps?: BuildStep[];
}

export interface BuildStep {
  phase: Phase;
  seconds: number;
}

export function progressOf(state: BuildState, now: number): Progress {
  const until = isOver(state) ? state.endedAt : now;
  const secondsElapsed = secondsBetween(state.startedAt, until);
  const secondsLeft = secondsLeftOf(state, now);
  const left = secondsLeft !== undefined && { secondsLeft };
  const steps = stepsOf(state, until);
  const more = { ...left, ...(steps.length > 0 && { steps }) };
  return { state: state.status, secondsElapsed, percent: percentOf(state), message: messageOf(state), ...more };
}

/** Each phase ends when the next one begins. */
export function stepsOf(state: BuildState, until: number): BuildStep[] {
  if (state.status === "queued" || state.status === "finished" || !state.begun) return [];
  const { begun } = state;
  const began = phases.flatMap((phase) => (begun[phase] === undefined ? [] : [{ phase, at: begun[phase] }]));
  return began.map(({ phase, at }, nth) => ({ phase, seconds: secondsBetween(at, began[nth + 1]?.at ?? until) }));
}

/** Below this percentage, the time so far is not enough to estimate the time that remains. */
const estimateFromPercent = 10;

/**
 * At first the estimate depends on the durations of earlier builds, and then increasingly on the speed of this attempt.
 */
function secondsLeftOf(state: BuildState, now: number): number | undefined {
  if (state.status !== "running") return undefined;
  const spent = secondsBetween(state.timeLimitAt - timeLimitMs, now);
  const done = state.percent / 100;
  const expected = state.expectedSeconds ?? (state.percent < estimateFromPercent ? undefined : spent / done);
  if (expected === undefined) return undefined;
  const whole = done === 0 ? expected : expected * (1 - done) + spent;
  return Math.max(1, Math.round(whole * (1 - done)));
}

/** Whole seconds between two times, or 0 if there is no first one. */
export const secondsBetween = (from: number | null, until: number): number =>
  from === null ? 0 : Math.max(0, Math.floor((until - from) / 1000));

function percentOf(state: BuildState): number {
  if (state.status === "finished") return 100;
  return state.status === "queued" ? 0 : (state.percent ?? 0);
}

/** The final message of a build, or a message about what it is doing. */
export function messageOf(state: BuildState): string {
  switch (state.status) {
    case "queued":
    case "running":
      return state.message;
    case "failed":
    case "error":
      return state.reason;
    case "finished":
      return "Finished";
    case "cancelled":
      return "Cancelled";
    default:
      return state satisfies never;
  }
}
