import type { ClaimOnce, Incarnation } from "#lib/contract/index";

/** Who claims a build or a testdrive, and how. */
export interface Claimant {
  agentId: number;
  incarnation?: Incarnation | undefined;
  /** Of the claim, so that its repetition gets the same answer. */
  nonce?: string | undefined;
}

/** Whether a claim is the one that has the work already: its answer was lost. */
export const isSameClaim = (holder: Claimant, again: Claimant): boolean =>
  again.nonce !== undefined && holder.nonce === again.nonce && holder.agentId === again.agentId;

/**
 * What to offer to a claim, in turn. If its answer was lost, first what the agent holds: the work that it has got already is
 * among that.
 */
export async function* offers<Work>(
  { isRepeated }: Pick<ClaimOnce, "isRepeated">,
  { held, waiting }: { held: () => Promise<Work[]>; waiting: () => AsyncIterable<Work> | Promise<Work[]> },
): AsyncGenerator<Work> {
  if (isRepeated) yield* await held();
  yield* await waiting();
}
