import type { Incarnation } from "#lib/contract/index";

/**
 * Whether the start of a process of an agent proves that the process which took a lease has ended. Undefined for an
 * older agent.
 */
export const hasReplaced = (started: Incarnation | undefined, holder: Incarnation | undefined): boolean =>
  holder === undefined || (started?.host === holder.host && started.start > holder.start);
