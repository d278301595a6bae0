/** What a build's object gives to the agent that claims it. */
export interface Claimed {
  attempt: number;
  token: string;
  timeLimitMs: number;
  requestId: string | undefined;
}
