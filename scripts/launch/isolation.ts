import { join } from "node:path";
import { getMeans } from "../../builder-agent/src/guest/means.ts";
import { installHostPackages, missingPackages } from "./host-packages.ts";
import { step, warn } from "./progress.ts";

/** "vm": each build runs in a guest of its own. "none": bare on this machine, where everyone who can start a build is root. */
export type Isolation = "vm" | "none";

/**
 * A guest for each build if there is hardware virtualisation. An emulated build would take about eight times as long, and the owner
 * of this machine is the one who starts builds: so they run bare, and the launcher says so when it is ready.
 */
export async function chooseIsolation(agentState: string, signal: AbortSignal): Promise<Isolation> {
  const { accel } = await step("Look for hardware virtualisation", () =>
    getMeans({ accel: "auto", stateDir: agentState }),
  );
  if (accel !== "kvm") return "none";
  const missing = await installHostPackages(["guests"], signal);
  if (missing.length > 0)
    warn("Without these packages, nothing can be built on this machine. For details run npm run doctor.");
  return "vm";
}

/** Starts the check while the Worker starts, if QEMU is installed: it takes up to 10 s if /dev/kvm exists and does not work. */
export function lookAhead(agentState: string): void {
  const look = async () => {
    const hasQemu = (await missingPackages(["testdrives"])).length === 0;
    if (hasQemu) await getMeans({ accel: "auto", stateDir: agentState });
  };
  look().catch(() => {}); // chooseIsolation reports it
}

export const agentStateOf = (stateDirectory: string) => join(stateDirectory, "agent");
