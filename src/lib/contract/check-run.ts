export const checkRunStates = ["waiting", "running", "passed", "failed", "error"] as const;
type CheckRunState = (typeof checkRunStates)[number];

/** Whether a run has not ended yet. */
export const isInProgress = ({ state }: { state: CheckRunState }): boolean =>
  state === "waiting" || state === "running";
