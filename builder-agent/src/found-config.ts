import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readConfig, type Config } from "./config.ts";

/** The part of the agent's configuration that other commands need. */
export type HostConfig = Pick<Config, "stateDir" | "isolation" | "accel" | "vnc" | "minFreeGb" | "root">;

/** The agent's own configuration where there is one; before the first start, that of the embedded mode. */
export async function findConfig(given: {
  config?: string | undefined;
  state?: string | undefined;
}): Promise<HostConfig> {
  if (given.config !== undefined) return await readConfig(given.config, process.env);
  const state = resolve(given.state ?? process.env["KILN_STATE"] ?? ".kiln");
  const embedded = join(state, "agent.json");
  const exists = await access(embedded).then(
    () => true,
    () => false,
  );
  if (exists) return await readConfig(embedded, process.env);
  return { stateDir: join(state, "agent"), isolation: "none", accel: "auto", vnc: null, minFreeGb: 2, root: "host" };
}
