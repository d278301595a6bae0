/** The state of a session that its page shows. The page's script reads it as JSON. */
export interface TestdriveStatus {
  state: "waiting" | "preparing" | "running" | "ended";
  /** Why it ended, what is being prepared, or what has happened to the running machine. */
  message: string;
  /** The time until the session's limit. Null before it runs. */
  secondsLeft: number | null;
  viewers: number;
}

/** The stages of a session until its screen appears, in order. */
export const stages = ["Waiting for a builder", "Fetching the image", "Starting the machine"] as const;

interface Start {
  /** The index in `stages`. */
  stage: number;
  /** The progress, if it is known. */
  percent: number | undefined;
}

/** Derives the stage from the agent's message, which describes in words what is being prepared. */
export function startOf({ state, message }: Pick<TestdriveStatus, "state" | "message">): Start {
  if (state === "waiting") return { stage: 0, percent: undefined };
  const isFetching = state === "preparing" && !message.startsWith("Starting");
  const percent = /\((\d+) %\)/.exec(message)?.[1];
  return { stage: isFetching ? 1 : 2, percent: isFetching && percent !== undefined ? Number(percent) : undefined };
}
