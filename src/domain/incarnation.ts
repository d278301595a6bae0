import type { Incarnation } from "#lib/contract/index";

/**
 * Whether the start of an agent's process proves that the process that took a lease has ended. Undefined for an older
 * agent.
 */
export const hasReplaced = (started: Incarnation | undefined, holder: Incarnation | undefined): boolean =>
  holder === undefined || (started?.host === holder.host && started.start > holder.start);
