import type { Incarnation } from "#contract/index";

/** Who claims a build, and how. */
export interface Claimant {
  agentId: number;
  incarnation?: Incarnation | undefined;
  /** Of the claim, so that its repetition gets the same answer. */
  nonce?: string | undefined;
}

/** What the build's object gives to it. */
export interface Claimed {
  attempt: number;
  token: string;
  timeLimitMs: number;
  requestId: string | undefined;
}
