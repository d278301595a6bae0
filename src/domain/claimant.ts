import type { ClaimOnce, Incarnation } from "#lib/contract/index";

/** The agent that claims a build or a testdrive, and its claim. */
export interface Claimant {
  agentId: number;
  incarnation?: Incarnation | undefined;
  /** The claim's nonce, so that a repeated claim gets the same answer. */
  nonce?: string | undefined;
}

/** Whether a claim repeats the one that holds the work. An agent repeats a claim if it lost the answer. */
export const isSameClaim = (holder: Claimant, again: Claimant): boolean =>
  again.nonce !== undefined && holder.nonce === again.nonce && holder.agentId === again.agentId;

/**
 * The work to offer for a claim, in order. If the agent lost a claim's answer, the work that it holds comes first,
 * because the work of that answer is part of it.
 */
export async function* offers<Work>(
  { isRepeated }: Pick<ClaimOnce, "isRepeated">,
  { held, waiting }: { held: () => Promise<Work[]>; waiting: () => AsyncIterable<Work> | Promise<Work[]> },
): AsyncGenerator<Work> {
  if (isRepeated) yield* await held();
  yield* await waiting();
}
