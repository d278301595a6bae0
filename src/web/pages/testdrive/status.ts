/** The state of a session that its page shows. The page's script reads it as JSON. */
export interface TestdriveStatus {
  state: "waiting" | "preparing" | "running" | "ended";
  /** Why it ended, what is being prepared, or what has happened to the running machine. */
  message: string;
  /** Until the session's time limit; null before it runs. */
  secondsLeft: number | null;
  viewers: number;
}

/** What a session goes through until its screen is there, in this order. */
export const stages = ["Waiting for a builder", "Fetching the image", "Starting the machine"] as const;

interface Start {
  /** The place among the stages. */
  stage: number;
  /** How far it is, if that is known. */
  percent: number | undefined;
}

/** The agent says what it prepares in words. */
export function startOf({ state, message }: Pick<TestdriveStatus, "state" | "message">): Start {
  if (state === "waiting") return { stage: 0, percent: undefined };
  const isFetching = state === "preparing" && !message.startsWith("Starting");
  const percent = /\((\d+) %\)/.exec(message)?.[1];
  return { stage: isFetching ? 1 : 2, percent: isFetching && percent !== undefined ? Number(percent) : undefined };
}
