import { sessionLeaseMs } from "#lib/contract/index";

/**
 * The states of a testdrive. There is no clock and no I/O: events contain their time, in milliseconds since 1970.
 *
 *   waiting ───claimed───▶ preparing ───ready───▶ running ──┐ viewers come and go; the last one gone: 60 s
 *      │                       │                     │ ◀────┘
 *      │ 10 s                  │ 10 min, agent lost, │ 60 s empty, session over, agent lost,
 *      │                       │ stopped             │ stopped
 *      ▼                       ▼                     ▼
 *    ended ◀───────────────────┴─────────────────────┘
 */
export const claimWithinMs = 10_000;
/** How long a session continues after its last viewer has left. */
export const emptyForMs = 60_000;
const prepareWithinMs = 10 * 60_000;
/** How long an open page can still find out why its session ended. */
const forgetAfterMs = 24 * 60 * 60_000;

interface Viewers {
  /** Browsers, connected through the relay. */
  page: number;
  /** VNC clients that are connected to the agent's own address. */
  tcp: number;
}

export type TestdriveState =
  | { status: "waiting"; claimBy: number }
  | { status: "preparing"; agentHeardAt: number; readyBy: number; message: string; viewers: Viewers }
  | {
      status: "running";
      agentHeardAt: number;
      endsAt: number;
      viewers: Viewers;
      emptySince: number | null;
      /** Whether the session checks an image, so that no one has to be connected. */
      isUnwatched?: boolean;
      /** A message about something that has happened to the machine since it started. */
      message?: string;
    }
  | { status: "ended"; cause: EndCause; reason: string; endedAt: number };
type LiveState = Extract<TestdriveState, { status: "preparing" | "running" }>;

type EndCause = "unclaimed" | "never_ready" | "aborted" | "time_over" | "agent_lost" | "stopped" | "agent_stopped";

export type TestdriveEvent = { at: number } & (
  | { type: "claimed" }
  /** The agent made a call or answered one. */
  | { type: "heard" }
  | { type: "prepares"; message: string }
  /** `isUnwatched`: no one has to be connected. */
  | { type: "ready"; sessionMs: number; isUnwatched?: boolean }
  /** The current number of viewers of one kind. */
  | { type: "viewers"; of: keyof Viewers; count: number }
  /** The user has stopped the session. */
  | { type: "stopped" }
  | { type: "agent_stopped"; reason: string }
  | { type: "woke_up" }
);

export const startWaiting = (at: number): TestdriveState => ({ status: "waiting", claimBy: at + claimWithinMs });

/** Applies the passage of time, and then the event. A late event finds an ended session. */
export function advance(state: TestdriveState, event: TestdriveEvent): TestdriveState {
  const now = expire(state, event.at);
  if (now.status === "ended") return now;
  if (now.status === "waiting") return advanceWaiting(now, event);
  return advanceLive(now, event);
}

/** The time of the object's only alarm. */
export function nextWakeUp(state: TestdriveState): number {
  switch (state.status) {
    case "waiting":
      return state.claimBy;
    case "preparing":
      return Math.min(state.readyBy, state.agentHeardAt + sessionLeaseMs);
    case "running":
      return Math.min(
        state.endsAt,
        state.agentHeardAt + sessionLeaseMs,
        state.emptySince === null ? Infinity : state.emptySince + emptyForMs,
      );
    case "ended":
      return state.endedAt + forgetAfterMs;
  }
}

function expire(state: TestdriveState, at: number): TestdriveState {
  if (state.status === "ended") return state;
  if (state.status === "waiting") return at < state.claimBy ? state : ended("unclaimed", at);
  if (at >= state.agentHeardAt + sessionLeaseMs) return ended("agent_lost", at);
  if (state.status === "preparing") return at < state.readyBy ? state : ended("never_ready", at);
  if (at >= state.endsAt) return ended("time_over", at);
  if (state.emptySince !== null && at >= state.emptySince + emptyForMs) return ended("aborted", at);
  return state;
}

function advanceWaiting(
  state: Extract<TestdriveState, { status: "waiting" }>,
  { type, at }: TestdriveEvent,
): TestdriveState {
  if (type === "stopped") return ended("stopped", at);
  if (type !== "claimed") return state;
  return {
    status: "preparing",
    agentHeardAt: at,
    readyBy: at + prepareWithinMs,
    message: "",
    viewers: { page: 0, tcp: 0 },
  };
}

function advanceLive(state: LiveState, event: TestdriveEvent): TestdriveState {
  switch (event.type) {
    case "claimed":
    case "woke_up":
      return state;
    case "heard":
      return { ...state, agentHeardAt: event.at };
    case "prepares":
      return { ...state, agentHeardAt: event.at, message: event.message };
    case "ready":
      return becomeReady(state, event);
    case "viewers":
      return count(state, event);
    case "stopped":
      return ended("stopped", event.at);
    case "agent_stopped":
      return ended("agent_stopped", event.at, event.reason);
    default:
      return event satisfies never;
  }
}

/** An agent reports `ready` again after each reconnection. Only the first report starts the timers. */
function becomeReady(
  state: LiveState,
  { at, sessionMs, isUnwatched }: { at: number; sessionMs: number; isUnwatched?: boolean },
): TestdriveState {
  if (state.status === "running") return { ...state, agentHeardAt: at };
  const { viewers } = state;
  return {
    status: "running",
    agentHeardAt: at,
    endsAt: at + sessionMs,
    viewers,
    emptySince: total(viewers) > 0 || isUnwatched ? null : at,
    ...(isUnwatched && { isUnwatched }),
  };
}

function count(state: LiveState, event: { at: number; of: keyof Viewers; count: number }): TestdriveState {
  const viewers = { ...state.viewers, [event.of]: event.count };
  const heard = event.of === "tcp" ? { agentHeardAt: event.at } : {};
  if (state.status === "preparing") return { ...state, ...heard, viewers };
  const emptySince = total(viewers) > 0 || state.isUnwatched ? null : (state.emptySince ?? event.at);
  return { ...state, ...heard, viewers, emptySince };
}

const total = (viewers: Viewers): number => viewers.page + viewers.tcp;

const ended = (cause: EndCause, at: number, reason: string = messages[cause]): TestdriveState => ({
  status: "ended",
  cause,
  reason,
  endedAt: at,
});

// Messages that the page shows its user.
const messages: Record<EndCause, string> = {
  unclaimed: "No builder agent was free to run it.",
  never_ready: "The virtual machine did not start in time.",
  aborted: "No one was connected for 60 seconds.",
  time_over: "The session has reached its time limit.",
  agent_lost: "The builder agent that ran it can no longer be reached.",
  stopped: "You stopped it.",
  agent_stopped: "The virtual machine has stopped.",
};
