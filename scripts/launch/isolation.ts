import { join } from "node:path";
import { getMeans } from "../../builder-agent/src/guest/means.ts";
import { installHostPackages, missingPackages } from "./host-packages.ts";
import { step, warn } from "./progress.ts";

/**
 * With "vm", each build runs in its own guest. With "none", builds run bare on this machine, so everyone who can start
 * a build is root there.
 */
export type Isolation = "vm" | "none";

/**
 * Chooses a guest for each build if there is hardware virtualisation. Without it, builds run bare, because an emulated
 * build takes about eight times as long, and the owner of this machine starts the builds. The launcher reports that
 * when it is ready.
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

/**
 * Starts the check while the Worker starts, if QEMU is installed, because it takes up to 10 s if /dev/kvm exists but
 * does not work.
 */
export function lookAhead(agentState: string): void {
  const look = async () => {
    const hasQemu = (await missingPackages(["testdrives"])).length === 0;
    if (hasQemu) await getMeans({ accel: "auto", stateDir: agentState });
  };
  look().catch(() => {}); // chooseIsolation reports it
}

export const agentStateOf = (stateDirectory: string) => join(stateDirectory, "agent");
