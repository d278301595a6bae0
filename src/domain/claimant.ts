import type { ClaimOnce, Incarnation } from "#lib/contract/index";

/** The agent that claims a build or a testdrive, and its claim. */
export interface Claimant {
  agentId: number;
  incarnation?: Incarnation | undefined;
  /** The claim's nonce, so that a repeated claim gets the same answer. */
  nonce?: string | undefined;
}

/** Whether a claim repeats the one that holds the work, because the answer to that was lost. */
export const isSameClaim = (holder: Claimant, again: Claimant): boolean =>
  again.nonce !== undefined && holder.nonce === again.nonce && holder.agentId === again.agentId;

/**
 * The work to offer for a claim, in order. If the claim's answer was lost, work that the agent holds comes first,
 * because it includes the work of that answer.
 */
export async function* offers<Work>(
  { isRepeated }: Pick<ClaimOnce, "isRepeated">,
  { held, waiting }: { held: () => Promise<Work[]>; waiting: () => AsyncIterable<Work> | Promise<Work[]> },
): AsyncGenerator<Work> {
  if (isRepeated) yield* await held();
  yield* await waiting();
}
