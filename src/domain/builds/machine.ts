import { buildLeaseMs, phases, type Heartbeat, type Incarnation, type Phase } from "#lib/contract/index";
import { tooLong, waiting, waitingMessage, type AgentsSeen } from "#domain/builds/why-waiting";
import { isSameClaim, type Claimant } from "#domain/claimant";
import { hasReplaced } from "#domain/incarnation";
import { sameSecret } from "#domain/secrets";

/**
 *            claimed                        finished
 *   queued ───────────> running ─────────────────────────> finished
 *    ^  │                │ │ │ │  failed, time limit
 *    │  │                │ │ │ └────────────────────────────> failed     the user's to fix
 *    │  │                │ │ │   lease over, host's fault, for the third time
 *    └──┼────────────────┘ │ └──────────────────────────────> error      the service's or the host's
 *       │  released,       │     cancelled
 *       │  not handed out, └────────────────────────────────> cancelled
 *       │  attempt lost
 *       └───────────────────────────────────────────────────────^
 *
 * Each claim is an attempt with its own token. Messages of earlier attempts are late. Reporting the end of an attempt
 * twice changes nothing.
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
  /** Why the previous attempt was lost. Absent if there was none, or if its agent gave the build back. */
  lostBy?: Loss;
  /** No agent gets the build before this time, because a claim has just failed. */
  restsUntil?: number;
  claimedInVain?: number;
}

export type RunningState = Heartbeat & {
  status: "running";
  /** When each phase of this attempt began. Absent if the attempt began before this was stored. */
  begun?: Partial<Record<Phase, number>>;
  attempt: number;
  losses: number;
  agentId: number;
  token: string;
  /** When the first attempt began. Users see the time that has passed since then. */
  startedAt: number;
  leaseEndsAt: number;
  timeLimitAt: number;
  /** How long similar builds took. Absent if there are none. */
  expectedSeconds?: number;
  /** The claim's nonce, so that a repeated claim gets the same answer. Absent for an older agent. */
  nonce?: string;
  /** The agent's process that claimed the build. Absent for an older agent. */
  incarnation?: Incarnation;
  /** No heartbeat has arrived yet: the agent may never have received the claim's answer. */
  isUnheard?: true;
  /** How many attempts in a row, including this one, were claimed but never begun by an agent. */
  claimedInVain?: number;
};

interface Over {
  attempt: number;
  startedAt: number | null;
  endedAt: number;
}

/** How an attempt was lost: its agent was silent or restarted, or it reported a fault of its host or of the service. */
type Loss = "silence" | "restart" | "fault";
/** Why a build ended without an image, for the operator's metrics: its content, its time limit, or its last loss. */
type Cause = Loss | "content" | "time_limit";

/** A build that ended without an image. */
interface Broken extends Over {
  /** Absent if the build was cancelled, or ended before this was stored. */
  cause?: Cause;
  /** How far the last attempt got. Absent if the build ended before this was stored. */
  percent?: number;
  /** When each phase of the last attempt began. Absent if there was none, or if it ended before this was stored. */
  begun?: RunningState["begun"] | undefined;
}

/** `at` is the current time, because the machine has no clock. */
export type BuildEvent = { at: number } & (
  | (Claimant & { type: "claimed"; token: string; expectedSeconds?: number | undefined })
  | { type: "heartbeat"; token: string; beat: Heartbeat }
  | { type: "released"; token: string }
  /** A fault of the service: the claim's answer could not be created. */
  | { type: "not_handed_out"; token: string }
  | { type: "failed"; token: string; kind: "failed" | "error"; reason: string }
  | { type: "finished"; token: string }
  | { type: "cancelled" }
  /** The agent has connected again, so its earlier processes have ended. */
  | { type: "agent_restarted"; agentId: number; incarnation?: Incarnation | undefined }
  /** The operator has removed the agent. */
  | { type: "agent_removed"; agentId: number }
  /** The alarm. `agents` matters only while queued, `isCutOff` (D1 cannot be reached) only while running. */
  | { type: "woke_up"; agents: AgentsSeen; isCutOff?: boolean }
);

/** `late`: another attempt has the build, or the build has ended. */
export interface Refused {
  refused: "late" | "not_queued" | "over";
}

export const wakeUpEveryMs = 30_000;
export const timeLimitMs = 4 * 60 * 60_000;
/** The first attempt and two retries. */
const maxLosses = 3;
/** An alarm that is this late shows that the service itself was stopped, so no agent could reach it. */
const lateMs = 10_000;
/** After a failed claim, a build rests for 2, 4, 8 … s, so that it is not handed out again in a tight loop. */
const restMs = { first: 2_000, most: 60_000 };
/** Attempts that no agent began are no losses: the answer may be lost. But the build may be what kills the agents. */
const maxInVain = 10;

export const queued = (at: number): BuildState => ({
  status: "queued",
  attempt: 1,
  losses: 0,
  queuedAt: at,
  wakeAgainAt: at + wakeUpEveryMs,
  startedAt: null,
  message: waiting,
});

/** Returns the next state, or the same object if the event changes nothing. */
export function advance(state: BuildState, event: BuildEvent): BuildState | Refused {
  switch (event.type) {
    case "claimed":
      return claimed(state, event);
    case "heartbeat":
      if (state.status === "cancelled" && holds(state, event.token)) return state;
      return ifRunning(state, event.token, (running) => heard(running, event));
    case "released":
      return ifRunning(state, event.token, (running) => requeued(running, event.at, waiting));
    case "not_handed_out":
      return ifRunning(state, event.token, (running) => resting(running, event.at));
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
      if (!isHeldByAgent(state, event.agentId) || !hasReplaced(event.incarnation, state.incarnation)) return state;
      return lost(state, event.at, { by: "restart", reason: "The builder was restarted in the middle of the build." });
    case "agent_removed":
      return isHeldByAgent(state, event.agentId) ? requeued(state, event.at, waiting) : state;
    case "woke_up":
      return wokenUp(state, event);
    default:
      return event satisfies never;
  }
}

/** When the object must wake up on its own. Null if it need not. */
export function nextWakeUp(state: BuildState): number | null {
  if (state.status === "queued") return state.wakeAgainAt;
  if (state.status === "running") return Math.min(state.leaseEndsAt, state.timeLimitAt);
  return null;
}

export const isOver = (state: BuildState): state is Exclude<BuildState, { status: "queued" | "running" }> =>
  state.status !== "queued" && state.status !== "running";

/** Whether the attempt with this token is the current one. */
export const isHeldBy = (state: BuildState | undefined, token: string): state is RunningState =>
  state?.status === "running" && holds(state, token);

/** Whether no agent gets the build until the next alarm. */
export const isResting = (state: BuildState): boolean => state.status === "queued" && state.restsUntil !== undefined;

export const isHeldByAgent = (state: BuildState | undefined, agentId: number): state is RunningState =>
  state?.status === "running" && state.agentId === agentId;

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

function heard(running: RunningState, { at, beat }: Event<"heartbeat">): RunningState {
  const { isUnheard: _, claimedInVain: __, begun, ...attempt } = running;
  return { ...attempt, ...beat, begun: { [beat.phase]: at, ...begun }, leaseEndsAt: at + buildLeaseMs };
}

function claimed(state: BuildState, event: Event<"claimed">): BuildState | Refused {
  const { at, agentId, token, expectedSeconds, incarnation, nonce } = event;
  if (state.status === "running" && isSameClaim(state, event)) return state;
  if (state.status !== "queued" || at < (state.restsUntil ?? 0)) return { refused: "not_queued" };
  const { attempt, losses, startedAt, claimedInVain = 0 } = state;
  return {
    status: "running",
    attempt,
    losses,
    agentId,
    token,
    startedAt: startedAt ?? at,
    leaseEndsAt: at + buildLeaseMs,
    timeLimitAt: at + timeLimitMs,
    isUnheard: true,
    claimedInVain: claimedInVain + 1,
    ...(expectedSeconds !== undefined && { expectedSeconds }),
    ...(incarnation && { incarnation }),
    ...(nonce !== undefined && { nonce }),
    phase: phases[0],
    begun: { [phases[0]]: at },
    percent: 0,
    message: phases[0],
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
      ? { token: state.token, agentId: state.agentId, percent: state.percent, begun: state.begun }
      : { token: null, agentId: null };
  return { status: "cancelled", attempt, startedAt, endedAt: at, ...holder };
}

function wokenUp(state: BuildState, { at, agents, isCutOff = false }: Event<"woke_up">): BuildState {
  if (state.status === "queued") {
    if (at < state.wakeAgainAt) return state;
    const { restsUntil: _, ...rested } = state;
    return { ...rested, wakeAgainAt: at + wakeUpEveryMs, message: waitingMessage(state, at, agents) };
  }
  if (state.status !== "running") return state;
  if (at >= state.timeLimitAt)
    return ended(state, at, { status: "failed", cause: "time_limit", reason: tooLong(timeLimitMs) });
  if (at < state.leaseEndsAt) return state;
  // A lease that ends while the service is down or stopped proves nothing about the agent.
  if (isCutOff || at - state.leaseEndsAt > lateMs) return { ...state, leaseEndsAt: at + buildLeaseMs };
  return lost(state, at, { by: "silence", reason: "The builder was lost in the middle of the build." });
}

/** The attempt was lost through no fault of the user. The build is retried, unless this has happened too often. */
function lost(running: RunningState, at: number, { by, reason }: { by: Loss; reason: string }): BuildState {
  const { isUnheard = false, claimedInVain = 0 } = running;
  const again = requeued(running, at, "The builder was lost; waiting for another one");
  if (isUnheard && by !== "fault" && claimedInVain < maxInVain) return { ...again, claimedInVain };
  const losses = running.losses + 1;
  if (losses >= maxLosses) return ended(running, at, { status: "error", cause: by, reason });
  return { ...again, losses, lostBy: by };
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

/** This is not a loss, but the build is not handed out again immediately. */
function resting(running: RunningState, at: number): QueuedState {
  const { claimedInVain = 1 } = running;
  const restsUntil = at + Math.min(restMs.most, restMs.first * 2 ** (claimedInVain - 1));
  return { ...requeued(running, at, waiting), wakeAgainAt: restsUntil, restsUntil, claimedInVain };
}

const ended = (
  { attempt, startedAt, token, percent, begun }: RunningState,
  endedAt: number,
  outcome: { status: "failed" | "error"; cause: Cause; reason: string },
): BuildState => ({ ...outcome, attempt, startedAt, endedAt, token, percent, begun });
