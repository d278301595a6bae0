/** What a testdrive's page shows of its session; its script reads this as JSON. */
export interface TestdriveStatus {
  state: "waiting" | "preparing" | "running" | "ended";
  /** Why it ended, or what is being prepared. */
  message: string;
  /** Of the longest time that the session may take; null before it runs. */
  secondsLeft: number | null;
  viewers: number;
}
