/** The answer of a build's object to the agent that claims it. */
export interface Claimed {
  attempt: number;
  token: string;
  timeLimitMs: number;
  requestId: string | undefined;
}
