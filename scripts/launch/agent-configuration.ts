import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Secrets } from "./secrets.ts";
import { writePrivateFile } from "./private-file.ts";

/** Builds run on the host itself: everybody who can start one is root here. */
export const isolation = "none";
const vnc = { host: "127.0.0.1", ports: [5910, 5999] };

export type AgentOptions = { stateDirectory: string; url: string; secrets: Secrets; allowHosts: readonly string[] };

/** Writes agent.json, the configuration of the builder agent on this machine, and gives its path. */
export function writeAgentConfiguration({ stateDirectory, url, secrets, allowHosts }: AgentOptions): string {
  const agentState = join(stateDirectory, "agent");
  mkdirSync(agentState, { recursive: true, mode: 0o700 });
  const path = join(stateDirectory, "agent.json");
  const configuration = {
    url,
    token: secrets.AGENT_TOKEN,
    queueUrl: `${url}/client/v4/accounts/local/queues/kiln-jobs`,
    queueToken: secrets.GATEWAY_TOKEN,
    stateDir: agentState,
    isolation,
    vnc,
    slots: 1,
    allowHosts,
  };
  writePrivateFile(path, `${JSON.stringify(configuration, null, 2)}\n`);
  return path;
}
