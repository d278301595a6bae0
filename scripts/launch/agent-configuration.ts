import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AptProxy } from "./apt-proxy.ts";
import { agentStateOf, type Isolation } from "./isolation.ts";
import type { Secrets } from "./secrets.ts";
import { writePrivateFile } from "./private-file.ts";

/** Less than a build host's default, because this may be the user's own machine. */
const minFreeGb = 2;

const vncPorts = { first: 5910, last: 5999 };
const vnc = { host: "127.0.0.1", ports: [vncPorts.first, vncPorts.last] };

export const isVncPort = (port: number): boolean => port >= vncPorts.first && port <= vncPorts.last;

export type AgentOptions = {
  stateDirectory: string;
  url: string;
  secrets: Secrets;
  allowHosts: readonly string[];
  catalogueHosts: readonly string[];
  catalogueProxy?: AptProxy | undefined;
  isolation: Isolation;
  builderRoot?: string | undefined;
  /** Whether it builds for arm64, too. */
  withArm64?: boolean;
  /** The number of testdrives at the same time. */
  testdriveSlots: number;
};

/**
 * The number of testdrives that the Worker's variables allow one account, because with fewer slots on the only agent,
 * the account could not reach its limit. At least one, which is the agent's minimum.
 */
export const testdriveSlotsOf = (vars: Record<string, unknown>): number =>
  Math.max(1, Number(vars["MAX_TESTDRIVES_PER_ACCOUNT"]) || 0);

/** Writes agent.json, the configuration of this machine's builder agent, and returns its path. */
export function writeAgentConfiguration(options: AgentOptions): string {
  const {
    stateDirectory,
    url,
    secrets,
    allowHosts,
    catalogueHosts,
    catalogueProxy,
    isolation,
    builderRoot,
    withArm64 = false,
    testdriveSlots,
  } = options;
  const agentState = agentStateOf(stateDirectory);
  mkdirSync(agentState, { recursive: true, mode: 0o700 });
  const path = join(stateDirectory, "agent.json");
  const configuration = {
    url,
    token: secrets.AGENT_TOKEN,
    queueUrl: `${url}/client/v4/accounts/local/queues/kiln-jobs`,
    stateDir: agentState,
    isolation,
    ...(builderRoot !== undefined && { root: builderRoot }),
    ...(withArm64 && { emulation: "on" }),
    vnc,
    slots: 1,
    testdriveSlots,
    minFreeGb,
    allowHosts,
    catalogueHosts,
    ...(catalogueProxy && {
      catalogueProxy: `http://${catalogueProxy.address}`,
      proxiedHosts: catalogueProxy.hosts,
    }),
  };
  writePrivateFile(path, `${JSON.stringify(configuration, null, 2)}\n`);
  return path;
}
