import type { AptProxy } from "./apt-proxy.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { isLoopbackUrl } from "../../src/domain/testdrives/guest-origin.ts";
import type { AdminClient, Agent } from "../admin/client.ts";
import { isLoopback } from "./address.ts";
import { testdriveSlotsOf, writeAgentConfiguration } from "./agent-configuration.ts";
import { keepAgentRunning, type RunningAgent } from "./agent-process.ts";
import type { Isolation } from "./isolation.ts";
import type { LaunchOptions } from "./options.ts";
import { step, warn } from "./progress.ts";
import type { Secrets } from "./secrets.ts";
import type { Stops } from "./stops.ts";

/** The state of this machine's builder agent at the end of a start. */
export type BuilderState =
  | { state: "ready"; capabilities: NonNullable<Agent["capabilities"]> }
  | { state: "starting" }
  | { state: "none"; why: string };

export type Builder = {
  firstState(admin: AdminClient, startedAt: number): Promise<BuilderState>;
  /** Calls the listener with the agent's pid now and whenever it changes. Null means that there is none. */
  watch(listener: (pid: number | null) => void): void;
};

type BuilderStart = {
  options: LaunchOptions;
  canBuild: boolean;
  secrets: Secrets;
  url: string;
  allowHosts: readonly string[];
  catalogueHosts: readonly string[];
  catalogueProxy: AptProxy | undefined;
  isolation: Isolation;
  /** The Worker's variables, wherever they were set. */
  variables: Record<string, unknown>;
};

/** The service's name for the agent with AGENT_TOKEN. */
const agentName = "local";
/** A quick start stays below 5 s in total. A long one can wait a little longer for the agent. */
const quickStartMs = 4_000;
const waitMs = 2_000;
const lookEveryMs = 100;

/** Starts this machine's builder agent, unless there is a reason not to. */
export function startBuilder(start: BuilderStart, stops: Stops): Builder {
  const { options, secrets, url, allowHosts, catalogueHosts, catalogueProxy, isolation, variables } = start;
  const why = reasonAgainst(start);
  if (why !== undefined) {
    return { firstState: () => Promise.resolve({ state: "none", why }), watch: (listener) => listener(null) };
  }
  const network = { allowHosts, catalogueHosts, catalogueProxy };
  const given = {
    stateDirectory: options.state,
    url,
    secrets,
    ...network,
    isolation,
    builderRoot: options.builderRoot,
    withArm64: options.added.includes("arm64"),
    testdriveSlots: testdriveSlotsOf(variables),
  };
  const configuration = writeAgentConfiguration(given);
  const agent = keepAgentRunning(configuration, options.state);
  stops.push(agent.stop);
  return {
    firstState: (admin, startedAt) => step("Builder agent", () => firstState(agent, admin, startedAt)),
    watch: agent.watch,
  };
}

/** The reason to start no agent on this machine, if there is one. */
export function reasonAgainst({
  options,
  canBuild,
  isolation,
  variables,
}: Pick<BuilderStart, "options" | "canBuild" | "isolation" | "variables">): string | undefined {
  const { withAgent, trustAccounts } = options;
  if (!withAgent) return "--no-agent";
  if (!canBuild) return "host packages are missing (above)";
  const opening = openingSetting(options, variables);
  if (opening === undefined || trustAccounts || isolation !== "none") return undefined;
  warn(`No builder agent: with ${opening} other machines reach the service, and builds run bare here, as root.`);
  warn(`Every account could become root here. If you trust all accounts, use --trust-accounts.`);
  return `${opening} without --trust-accounts`;
}

/** The setting that makes the service reachable from other machines, directly or through a proxy, if there is one. */
function openingSetting(options: LaunchOptions, variables: BuilderStart["variables"]): string | undefined {
  const { host, baseUrl, trustedProxies } = options;
  if (!isLoopback(host)) return `--host ${host}`;
  const [url, proxies] = [variables["BASE_URL"], variables["TRUSTED_PROXIES"]].map((value) => String(value ?? ""));
  if (url && !(URL.canParse(url) && isLoopbackUrl(url))) return `${url === baseUrl ? "--base-url" : "BASE_URL"} ${url}`;
  if (!proxies) return undefined;
  return proxies === trustedProxies.join(",") ? `--trusted-proxy ${trustedProxies[0]}` : `TRUSTED_PROXIES ${proxies}`;
}

/** Waits a short time for the agent to connect and report what it can do. */
async function firstState(agent: RunningAgent, admin: AdminClient, startedAt: number): Promise<BuilderState> {
  const now = Date.now();
  const until = now < startedAt + quickStartMs ? startedAt + quickStartMs : now + waitMs;
  while (Date.now() < until && agent.pid() !== null) {
    const known = (await admin.agents()).find((each) => each.name === agentName);
    const hasConnected = known?.lastSeenAt && known.lastSeenAt.getTime() >= startedAt;
    if (hasConnected && known.capabilities) return { state: "ready", capabilities: known.capabilities };
    await sleep(lookEveryMs);
  }
  return { state: "starting" };
}
