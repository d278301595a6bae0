export const rebuildStates = ["queued", "running", "same", "differs", "failed", "cancelled"] as const;
export type RebuildState = (typeof rebuildStates)[number];

interface Rebuild {
  status: "queued" | "running" | "finished" | "failed" | "error" | "cancelled";
  rebuilt: { isSame: boolean } | null;
}

/** Whether a rebuild waits or runs, what it has found, or that it has ended without an image. */
export function stateOfRebuild({ status, rebuilt }: Rebuild): RebuildState {
  if (status === "error" || status === "failed") return "failed";
  if (status !== "finished") return status;
  return rebuilt?.isSame ? "same" : "differs";
}
