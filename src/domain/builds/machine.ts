import { buildLeaseMs, type Heartbeat } from "#contract/index";
import { sameSecret } from "#domain/secrets";

/**
 *            claimed                        finished
 *   queued ───────────> running ─────────────────────────> finished
 *    ^  │                │ │ │ │  failed, time limit
 *    │  │                │ │ │ └────────────────────────────> failed     the user's to fix
 *    │  │                │ │ │   lease over, host's fault, for the third time
 *    └──┼────────────────┘ │ └──────────────────────────────> error      the service's or the host's
 *       │  released,       │     cancelled
 *       │  attempt lost    └────────────────────────────────> cancelled
 *       └───────────────────────────────────────────────────────^
 *
 * Each claim is an attempt with its own token; messages of earlier attempts are late. Reporting the end of an attempt twice
 * changes nothing.
 */
export type BuildState =
  | QueuedState
  | RunningState
  | (Over & { status: "finished"; token: string })
  | (Broken & { status: "failed" | "error"; token: string; reason: string })
  | (Broken & { status: "cancelled"; token: string | null; agentId: number | null });

interface QueuedState {
  status: "queued";
  attempt: number;
  /** Attempts that were lost: the agent died or its host failed. */
  losses: number;
  queuedAt: number;
  /** When the wake-up for agents is sent again. */
  wakeAgainAt: number;
  startedAt: number | null;
  message: string;
  /** Why the attempt before was lost; absent: there was none, or its agent gave the build back. */
  lostBy?: Loss;
}

export type RunningState = Heartbeat & {
  status: "running";
  attempt: number;
  losses: number;
  agentId: number;
  token: string;
  /** Of the first attempt: users see the time since then. */
  startedAt: number;
  leaseEndsAt: number;
  timeLimitAt: number;
  /** How long similar builds took; absent: there are none. */
  expectedSeconds?: number;
};

interface Over {
  attempt: number;
  startedAt: number | null;
  endedAt: number;
}

/** How an attempt is lost: its agent was silent, restarted, or reported a fault of its host or of the service. */
type Loss = "silence" | "restart" | "fault";
/** Why a build ends without an image, for the operator's figures: its content, its time, or the last loss. */
type Cause = Loss | "content" | "time_limit";

/** Without an image. */
interface Broken extends Over {
  /** Absent: it was cancelled, or ended before this was stored. */
  cause?: Cause;
  /** How far the last attempt got. Absent: it ended before this was stored. */
  percent?: number;
}

/** `at` is the clock: the machine has none of its own. */
export type BuildEvent = { at: number } & (
  | { type: "claimed"; agentId: number; token: string; expectedSeconds?: number | undefined }
  | { type: "heartbeat"; token: string; beat: Heartbeat }
  | { type: "released"; token: string }
  | { type: "failed"; token: string; kind: "failed" | "error"; reason: string }
  | { type: "finished"; token: string }
  | { type: "cancelled" }
  /** The agent connected again: it lost what it held before. */
  | { type: "agent_restarted"; agentId: number }
  /** The alarm. The agents matter only while queued. */
  | { type: "woke_up"; agents: AgentsSeen }
);

/** Which agents that could do the build the shell has seen. */
export type AgentsSeen = "unknown" | "none" | "rootless" | "busy" | "full" | "drained";

/** `late`: another attempt has the build, or it is over. */
export interface Refused {
  refused: "late" | "not_queued" | "over";
}

export const wakeUpEveryMs = 30_000;
/** After this long in the queue the message says why. */
export const longQueueMs = 2 * 60_000;
export const timeLimitMs = 4 * 60 * 60_000;
/** The first attempt and two retries. */
const maxLosses = 3;

export const waiting = "Waiting for a builder";

export const queued = (at: number): BuildState => ({
  status: "queued",
  attempt: 1,
  losses: 0,
  queuedAt: at,
  wakeAgainAt: at + wakeUpEveryMs,
  startedAt: null,
  message: waiting,
});

/** The next state; the very same object when the event changes nothing. */
export function advance(state: BuildState, event: BuildEvent): BuildState | Refused {
  switch (event.type) {
    case "claimed":
      return claimed(state, event);
    case "heartbeat":
      if (state.status === "cancelled" && holds(state, event.token)) return state;
      return ifRunning(state, event.token, (running) => ({
        ...running,
        ...event.beat,
        leaseEndsAt: event.at + buildLeaseMs,
      }));
    case "released":
      return ifRunning(state, event.token, (running) => requeued(running, event.at, waiting));
    case "failed":
      if ((state.status === "failed" || state.status === "error") && holds(state, event.token)) return state;
      return ifRunning(state, event.token, (running) => afterFailure(running, event));
    case "finished":
      if (state.status === "finished" && holds(state, event.token)) return state;
      return ifRunning(state, event.token, ({ attempt, startedAt, token }) => ({
        status: "finished",
        attempt,
        startedAt,
        endedAt: event.at,
        token,
      }));
    case "cancelled":
      return cancelled(state, event.at);
    case "agent_restarted":
      if (state.status !== "running" || state.agentId !== event.agentId) return state;
      return lost(state, event.at, { by: "restart", reason: "The builder was restarted in the middle of the build." });
    case "woke_up":
      return wokenUp(state, event);
    default:
      return event satisfies never;
  }
}

/** When the shell must wake up on its own; null: never again. */
export function nextWakeUp(state: BuildState): number | null {
  if (state.status === "queued") return state.wakeAgainAt;
  if (state.status === "running") return Math.min(state.leaseEndsAt, state.timeLimitAt);
  return null;
}

export const isOver = (state: BuildState): state is Exclude<BuildState, { status: "queued" | "running" }> =>
  state.status !== "queued" && state.status !== "running";

/** Whether this token's attempt is the one that runs. */
export const isHeldBy = (state: BuildState | undefined, token: string): state is RunningState =>
  state?.status === "running" && holds(state, token);

type Event<T extends BuildEvent["type"]> = Extract<BuildEvent, { type: T }>;

const holds = (state: { token: string | null }, token: string) =>
  state.token !== null && sameSecret(state.token, token);

function ifRunning(
  state: BuildState,
  token: string,
  next: (running: RunningState) => BuildState,
): BuildState | Refused {
  return isHeldBy(state, token) ? next(state) : { refused: "late" };
}

function claimed(state: BuildState, { at, agentId, token, expectedSeconds }: Event<"claimed">): BuildState | Refused {
  if (state.status !== "queued") return { refused: "not_queued" };
  const { attempt, losses, startedAt } = state;
  return {
    status: "running",
    attempt,
    losses,
    agentId,
    token,
    startedAt: startedAt ?? at,
    leaseEndsAt: at + buildLeaseMs,
    timeLimitAt: at + timeLimitMs,
    ...(expectedSeconds !== undefined && { expectedSeconds }),
    phase: "Fetching appliance configuration",
    percent: 0,
    message: "Fetching appliance configuration",
  };
}

function afterFailure(running: RunningState, { at, kind, reason }: Event<"failed">): BuildState {
  return kind === "failed"
    ? ended(running, at, { status: "failed", cause: "content", reason })
    : lost(running, at, { by: "fault", reason });
}

function cancelled(state: BuildState, at: number): BuildState | Refused {
  if (state.status === "cancelled") return state;
  if (isOver(state)) return { refused: "over" };
  const { attempt, startedAt } = state;
  const holder =
    state.status === "running"
      ? { token: state.token, agentId: state.agentId, percent: state.percent }
      : { token: null, agentId: null };
  return { status: "cancelled", attempt, startedAt, endedAt: at, ...holder };
}

function wokenUp(state: BuildState, { at, agents }: Event<"woke_up">): BuildState {
  if (state.status === "queued") {
    if (at < state.wakeAgainAt) return state;
    return { ...state, wakeAgainAt: at + wakeUpEveryMs, message: waitingMessage(state, at, agents) };
  }
  if (state.status !== "running") return state;
  if (at >= state.timeLimitAt) return ended(state, at, { status: "failed", cause: "time_limit", reason: tooLong });
  if (at < state.leaseEndsAt) return state;
  return lost(state, at, { by: "silence", reason: "The builder was lost in the middle of the build." });
}

const tooLong = `The build did not end within ${timeLimitMs / 3_600_000} hours.`;

function waitingMessage(state: { queuedAt: number; message: string }, at: number, agents: AgentsSeen): string {
  if (agents === "unknown" || at - state.queuedAt < longQueueMs) return state.message;
  return whyWaiting[agents];
}

export const whyWaiting: Record<Exclude<AgentsSeen, "unknown">, string> = {
  none: "Waiting: no builder that can do this is connected",
  rootless: "Waiting: no connected builder has the builder root in which this system is built",
  busy: "Waiting: all builders are busy",
  full: "Waiting: no builder has room on its disk",
  drained: "Waiting: every builder that can do this is out of service",
};

/** Not the user's fault: the build is retried, until this has happened too often. */
function lost(running: RunningState, at: number, { by, reason }: { by: Loss; reason: string }): BuildState {
  const losses = running.losses + 1;
  if (losses >= maxLosses) return ended(running, at, { status: "error", cause: by, reason });
  return { ...requeued({ ...running, losses }, at, "The builder was lost; waiting for another one"), lostBy: by };
}

const requeued = ({ attempt, losses, startedAt }: RunningState, at: number, message: string): QueuedState => ({
  status: "queued",
  attempt: attempt + 1,
  losses,
  queuedAt: at,
  wakeAgainAt: at + wakeUpEveryMs,
  startedAt,
  message,
});

const ended = (
  { attempt, startedAt, token, percent }: RunningState,
  endedAt: number,
  outcome: { status: "failed" | "error"; cause: Cause; reason: string },
): BuildState => ({ ...outcome, attempt, startedAt, endedAt, token, percent });
