import { join } from "node:path";
import { findMeans } from "../../builder-agent/src/guest/means.ts";
import { installHostPackages, missingPackages } from "./host-packages.ts";
import { step, warn } from "./progress.ts";

/** "vm": each build runs in a guest of its own. "none": bare on this machine, where everybody who can start one is root. */
export type Isolation = "vm" | "none";

/**
 * A guest for each build where hardware carries it. Emulated, a build would take some eight times as long, and its owner is
 * the one who starts builds here: then they run bare, and the end of the start says so.
 */
export async function chooseIsolation(agentState: string, signal: AbortSignal): Promise<Isolation> {
  const { accel } = await step("Look for hardware virtualisation", () =>
    findMeans({ accel: "auto", stateDir: agentState }),
  );
  if (accel !== "kvm") return "none";
  const missing = await installHostPackages(["guests"], signal);
  if (missing.length > 0) warn("Without them there will be no builds on this machine: npm run doctor says more.");
  return "vm";
}

/** Begins to look while the Worker starts, if QEMU is there: up to 10 s where /dev/kvm does not keep its promise. */
export function lookAhead(agentState: string): void {
  if (missingPackages(["testdrives"]).length > 0) return;
  findMeans({ accel: "auto", stateDir: agentState }).catch(() => {}); // told by chooseIsolation
}

export const agentStateOf = (stateDirectory: string) => join(stateDirectory, "agent");
