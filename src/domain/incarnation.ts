import type { Incarnation } from "#lib/contract/index";

/** Whether a process of an agent proves by its start that the one which took a lease has ended. Undefined: an older agent. */
export const hasReplaced = (started: Incarnation | undefined, holder: Incarnation | undefined): boolean =>
  holder === undefined || (started?.host === holder.host && started.start > holder.start);
