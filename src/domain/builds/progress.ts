import { phases, type Phase } from "#lib/contract/index";
import { isOver, timeLimitMs, type BuildState } from "#domain/builds/machine";

/** What a user sees of a build that is not over yet, and the same of one that is. */
export interface Progress {
  state: BuildState["status"];
  /** 0..100. */
  percent: number;
  /** Since its first attempt began. */
  secondsElapsed: number;
  message: string;
  /** About how long a running build still takes; absent where nothing tells. */
  secondsLeft?: number;
  /** Of a build that waits: 1 is the next one. It is counted when it is asked for (domain/builds/queue.ts). */
  queuePosition?: number;
  /** The phases of this attempt, in order; the last one may still run. Absent of a build that waits, or is finished. */
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

/** Below it, what the attempt took so far says too little of what it will take. */
const tellingPercent = 10;

/** At first what earlier builds took decides, and more and more what this attempt took for what is done of it. */
function secondsLeftOf(state: BuildState, now: number): number | undefined {
  if (state.status !== "running") return undefined;
  const spent = secondsBetween(state.timeLimitAt - timeLimitMs, now);
  const done = state.percent / 100;
  const expected = state.expectedSeconds ?? (state.percent < tellingPercent ? undefined : spent / done);
  if (expected === undefined) return undefined;
  const whole = done === 0 ? expected : expected * (1 - done) + spent;
  return Math.max(1, Math.round(whole * (1 - done)));
}

/** Whole seconds; 0 while it has not begun. */
export const secondsBetween = (from: number | null, until: number): number =>
  from === null ? 0 : Math.max(0, Math.floor((until - from) / 1000));

function percentOf(state: BuildState): number {
  if (state.status === "finished") return 100;
  return state.status === "queued" ? 0 : (state.percent ?? 0);
}

/** The last word on a build, or what it is doing. */
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
