import { describe, expect, it } from "vitest";
import { buildLeaseMs, type Heartbeat } from "#lib/contract/index";
import {
  advance,
  nextWakeUp,
  queued,
  timeLimitMs,
  wakeUpEveryMs,
  type BuildEvent,
  type BuildState,
  type Refused,
  type RunningState,
} from "#domain/builds/machine";
import { progressOf } from "#domain/builds/progress";
import { longQueueMs } from "#domain/builds/why-waiting";

const at = 1_000_000;
const beat: Heartbeat = { phase: "Installing software", percent: 40, message: "Installing software (1/2) busybox" };

const states = {
  queued: queued(at),
  running: {
    status: "running",
    attempt: 1,
    losses: 0,
    agentId: 7,
    token: "mine",
    startedAt: at,
    leaseEndsAt: at + buildLeaseMs,
    timeLimitAt: at + timeLimitMs,
    ...beat,
  },
  finished: { status: "finished", attempt: 1, startedAt: at, endedAt: at, token: "mine" },
  failed: {
    status: "failed",
    attempt: 1,
    startedAt: at,
    endedAt: at,
    token: "mine",
    reason: "Problem: nothing provides x",
  },
  error: { status: "error", attempt: 3, startedAt: at, endedAt: at, token: "mine", reason: "no space left" },
  cancelled: { status: "cancelled", attempt: 1, startedAt: at, endedAt: at, token: "mine", agentId: 7 },
} satisfies Record<string, BuildState>;

const running: RunningState = { ...states.running, status: "running" };

const unlessRefused = (state: BuildState | Refused, event: BuildEvent) =>
  "refused" in state ? state : advance(state, event);

const events = {
  claimed: { type: "claimed", at, agentId: 8, token: "new" },
  heartbeat: { type: "heartbeat", at, token: "mine", beat },
  lateHeartbeat: { type: "heartbeat", at, token: "other", beat },
  released: { type: "released", at, token: "mine" },
  lateReleased: { type: "released", at, token: "other" },
  failed: { type: "failed", at, token: "mine", kind: "failed", reason: "Problem: nothing provides x" },
  hostFailed: { type: "failed", at, token: "mine", kind: "error", reason: "no space left" },
  lateFailed: { type: "failed", at, token: "other", kind: "failed", reason: "late" },
  finished: { type: "finished", at, token: "mine" },
  lateFinished: { type: "finished", at, token: "other" },
  cancelled: { type: "cancelled", at },
  ownAgentRestarted: { type: "agent_restarted", at, agentId: 7 },
  otherAgentRestarted: { type: "agent_restarted", at, agentId: 9 },
  wokeUpEarly: { type: "woke_up", at, agents: "unknown" },
  wokeUpLate: { type: "woke_up", at: at + buildLeaseMs, agents: "unknown" },
} satisfies Record<string, BuildEvent>;

// "=": the same object, unchanged. "late", "not_queued", "over": refused with this code. Otherwise the next status and
// attempt.
const late = "late";
const table: Record<keyof typeof events, Record<keyof typeof states, string>> = {
  claimed: {
    queued: "running 1",
    running: "not_queued",
    finished: "not_queued",
    failed: "not_queued",
    error: "not_queued",
    cancelled: "not_queued",
  },
  heartbeat: { queued: late, running: "running 1", finished: late, failed: late, error: late, cancelled: "=" },
  lateHeartbeat: { queued: late, running: late, finished: late, failed: late, error: late, cancelled: late },
  released: { queued: late, running: "queued 2", finished: late, failed: late, error: late, cancelled: late },
  lateReleased: { queued: late, running: late, finished: late, failed: late, error: late, cancelled: late },
  failed: { queued: late, running: "failed 1", finished: late, failed: "=", error: "=", cancelled: late },
  hostFailed: { queued: late, running: "queued 2", finished: late, failed: "=", error: "=", cancelled: late },
  lateFailed: { queued: late, running: late, finished: late, failed: late, error: late, cancelled: late },
  finished: { queued: late, running: "finished 1", finished: "=", failed: late, error: late, cancelled: late },
  lateFinished: { queued: late, running: late, finished: late, failed: late, error: late, cancelled: late },
  cancelled: {
    queued: "cancelled 1",
    running: "cancelled 1",
    finished: "over",
    failed: "over",
    error: "over",
    cancelled: "=",
  },
  ownAgentRestarted: { queued: "=", running: "queued 2", finished: "=", failed: "=", error: "=", cancelled: "=" },
  otherAgentRestarted: { queued: "=", running: "=", finished: "=", failed: "=", error: "=", cancelled: "=" },
  wokeUpEarly: { queued: "=", running: "=", finished: "=", failed: "=", error: "=", cancelled: "=" },
  wokeUpLate: { queued: "queued 1", running: "queued 2", finished: "=", failed: "=", error: "=", cancelled: "=" },
};

const stateNames: (keyof typeof states)[] = ["queued", "running", "finished", "failed", "error", "cancelled"];
const eventNames = Object.keys(events) as (keyof typeof events)[];
const cases = eventNames.flatMap((event) => stateNames.map((state) => [event, state, table[event][state]] as const));

function outcomeOf(before: BuildState, event: BuildEvent): string {
  const next = advance(before, event);
  if (next === before) return "=";
  return "refused" in next ? next.refused : `${next.status} ${next.attempt}`;
}

function after(state: BuildState, ...happened: BuildEvent[]): BuildState {
  return happened.reduce<BuildState>((now, event) => {
    const next = advance(now, event);
    if ("refused" in next) throw new Error(`${event.type} is refused: ${next.refused}`);
    return next;
  }, state);
}

describe("advance", () => {
  it.each(cases)("handles %s while %s: %s", (event, state, expected) => {
    expect(outcomeOf(states[state], events[event])).toBe(expected);
  });

  it("renews the lease and stores the progress with each heartbeat", () => {
    const next = advance(running, { type: "heartbeat", at: at + 9_000, token: "mine", beat: { ...beat, percent: 50 } });

    const begun = { [beat.phase]: at + 9_000 };
    expect(next).toEqual({ ...running, percent: 50, leaseEndsAt: at + 9_000 + buildLeaseMs, begun });
  });

  it("stores when each phase began, also of a build that fails", () => {
    const beats = (["Preparing the build", "Installing software", "Installing software"] as const).map(
      (phase, nth): BuildEvent => ({
        type: "heartbeat",
        at: at + (nth + 1) * 4000,
        token: "new",
        beat: { ...beat, phase },
      }),
    );
    const failed: BuildEvent = { type: "failed", at: at + 15_000, token: "new", kind: "failed", reason: "no" };
    const end = [events.claimed as BuildEvent, ...beats, failed].reduce<BuildState | Refused>(
      unlessRefused,
      states.queued,
    );
    if ("refused" in end) throw new Error("refused");
    expect(progressOf(end, at + 99_000).steps).toEqual([
      { phase: "Fetching appliance configuration", seconds: 4 },
      { phase: "Preparing the build", seconds: 4 },
      { phase: "Installing software", seconds: 7 },
    ]);
  });

  it("ends with the reason when the third attempt is lost", () => {
    const claim = (token: string): BuildEvent => ({ type: "claimed", at, agentId: 7, token });
    const lose = (token: string): BuildEvent => ({
      type: "failed",
      at,
      token,
      kind: "error",
      reason: `disk of ${token}`,
    });

    const twice = after(queued(at), claim("a"), lose("a"), claim("b"), lose("b"));
    const thrice = after(twice, claim("c"), lose("c"));

    expect(twice).toMatchObject({ status: "queued", attempt: 3 });
    expect(thrice).toMatchObject({ status: "error", reason: "disk of c" });
  });

  it("does not count a released attempt", () => {
    const rounds = ["a", "b", "c", "d"].flatMap((token): BuildEvent[] => [
      { type: "claimed", at, agentId: 7, token },
      { type: "released", at, token },
    ]);

    expect(after(queued(at), ...rounds)).toMatchObject({ status: "queued", attempt: 5, losses: 0 });
  });

  it("refuses an attempt as soon as another one has the build", () => {
    const again = after(
      running,
      { type: "released", at, token: "mine" },
      { type: "claimed", at, agentId: 9, token: "next" },
    );

    expect(advance(again, events.finished)).toEqual({ refused: "late" });
    expect(advance(again, { ...events.finished, token: "next" })).toMatchObject({ status: "finished", attempt: 2 });
  });

  it("fails a build that exceeds its time limit, despite a live agent", () => {
    const alive = { ...running, leaseEndsAt: running.timeLimitAt + buildLeaseMs };

    const next = advance(alive, { type: "woke_up", at: running.timeLimitAt, agents: "unknown" });

    expect(next).toMatchObject({ status: "failed", reason: "The build did not end within 4 hours." });
  });

  it("counts the time from the first attempt", () => {
    const second = after(
      running,
      { type: "released", at: at + 5_000, token: "mine" },
      { type: "claimed", at: at + 9_000, agentId: 7, token: "b" },
    );

    expect(second).toMatchObject({ startedAt: at, timeLimitAt: at + 9_000 + timeLimitMs });
  });

  it.each([
    ["none", longQueueMs, "Waiting: no builder that can do this is connected"],
    ["busy", longQueueMs, "Waiting: all builders are busy"],
    ["full", longQueueMs, "Waiting: no builder has room on its disk"],
    ["none", longQueueMs - 1, "Waiting for a builder"],
    ["unknown", longQueueMs, "Waiting for a builder"],
  ] as const)("explains why it waits: %s after %i ms", (agents, ms, message) => {
    expect(advance(queued(at), { type: "woke_up", at: at + ms, agents })).toMatchObject({ status: "queued", message });
  });
});

describe("nextWakeUp", () => {
  it.each([
    ["queued", at + wakeUpEveryMs],
    ["running", at + buildLeaseMs],
    ["finished", null],
    ["failed", null],
    ["error", null],
    ["cancelled", null],
  ] as const)("is right while %s", (state, expected) => {
    expect(nextWakeUp(states[state])).toBe(expected);
  });

  it("is the time limit if that comes before the lease's end", () => {
    expect(nextWakeUp({ ...running, timeLimitAt: at + 1 })).toBe(at + 1);
  });
});
