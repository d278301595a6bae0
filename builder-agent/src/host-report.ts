import { availableParallelism, loadavg } from "node:os";
import type { Config } from "./config.ts";
import type { AgentReport } from "./contract.ts";
import { freeBytes } from "./disk-room.ts";

type ReportConfig = Pick<Config, "stateDir" | "slots" | "testdriveSlots">;

/** The host's load and free space, rounded so coarsely that an idle host's report stays the same. */
export async function hostReport({ stateDir, slots, testdriveSlots }: ReportConfig): Promise<AgentReport> {
  const [load = 0] = loadavg();
  return {
    type: "report",
    load: 10 * Math.round((10 * load) / availableParallelism()),
    freeGb: Math.round((await freeBytes(stateDir)) / 1e9),
    slots: { builds: slots, testdrives: testdriveSlots },
  };
}
