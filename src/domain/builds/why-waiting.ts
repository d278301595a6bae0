/** Messages for the user while a build waits, or if a build takes too long. */

/** The state of the live agents that could do the build. */
export type AgentsSeen = "unknown" | "none" | "rootless" | "busy" | "full" | "drained";

export const waiting = "Waiting for a builder";

/** After this long in the queue, the message includes the reason. */
export const longQueueMs = 2 * 60_000;

export function waitingMessage(state: { queuedAt: number; message: string }, at: number, agents: AgentsSeen): string {
  if (agents === "unknown" || at - state.queuedAt < longQueueMs) return state.message;
  return whyWaiting[agents];
}

export const whyWaiting: Record<Exclude<AgentsSeen, "unknown">, string> = {
  none: "Waiting: no builder that can do this is connected",
  rootless: "Waiting: no connected builder has the builder root that this system needs",
  busy: "Waiting: all builders are busy",
  full: "Waiting: no builder has room on its disk",
  drained: "Waiting: every builder that can do this is out of service",
};

export const tooLong = (limitMs: number): string => `The build did not end within ${limitMs / 3_600_000} hours.`;
