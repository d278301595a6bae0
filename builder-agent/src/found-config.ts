import { join, resolve } from "node:path";
import { readConfig, type Config } from "./config.ts";
import { isAccessible } from "./files.ts";

/** The part of the agent's configuration that other commands need. */
export type HostConfig = Pick<Config, "stateDir" | "isolation" | "accel" | "vnc" | "minFreeGb" | "root" | "emulation">;

/** The agent's own configuration if there is one. Before the first `npm start`, the one that it would write. */
export async function getConfig(given: {
  config?: string | undefined;
  state?: string | undefined;
}): Promise<HostConfig> {
  if (given.config !== undefined) return await readConfig(given.config, process.env);
  const state = resolve(given.state ?? process.env["KILN_STATE"] ?? ".kiln");
  const embedded = join(state, "agent.json");
  if (await isAccessible(embedded)) return await readConfig(embedded, process.env);
  const bare = { isolation: "none", accel: "auto", vnc: null, minFreeGb: 2, root: "host", emulation: "off" } as const;
  return { stateDir: join(state, "agent"), ...bare };
}
