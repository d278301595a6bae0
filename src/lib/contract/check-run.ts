import { snapshotMs } from "./testdrive.ts";

export const checkRunStates = ["waiting", "running", "passed", "failed", "error"] as const;
type CheckRunState = (typeof checkRunStates)[number];

/** Whether a run has not ended yet. */
export const isInProgress = ({ state }: { state: CheckRunState }): boolean =>
  state === "waiting" || state === "running";

/** Until when an agent keeps the machine of a run. Null if it keeps none. */
export const machineKeptUntil = ({ isMachineKept, endedAt }: { isMachineKept: boolean; endedAt: Date | null }) =>
  isMachineKept && endedAt ? new Date(endedAt.getTime() + snapshotMs) : null;
