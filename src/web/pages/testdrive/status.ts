/** The state of a session that its page shows. The page's script reads it as JSON. */
export interface TestdriveStatus {
  state: "waiting" | "preparing" | "running" | "ended";
  /** Why it ended, or what is being prepared. */
  message: string;
  /** Until the session's time limit; null before it runs. */
  secondsLeft: number | null;
  viewers: number;
}
