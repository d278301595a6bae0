import type { Services } from "#domain/services";
import { canDo, hasRoot, type Wanted } from "#domain/builds/builder-abilities";
import type { AgentsSeen } from "#domain/builds/why-waiting";
import { switchboard } from "#domain/jobs";
import { listAgents, type Agent } from "#storage/agents";
import { findAnyAppliance } from "#storage/appliances";
import { findBuildByUid, type Build } from "#storage/builds";

type SwitchboardServices = Services<Pick<Env, "SWITCHBOARD">>;

/** The reason why a build waits, from the agents that are alive. */
export async function agentsSeen(services: SwitchboardServices, uid: string): Promise<AgentsSeen> {
  const { db } = services;
  const build = await findBuildByUid(db, uid);
  const [appliance, alive] = await Promise.all([
    build && findAnyAppliance(db, build.applianceId),
    listAliveAgents(services),
  ]);
  return build && appliance ? whyNotYet(alive, { ...build, arch: appliance.arch }) : "none";
}

/** Agents that are connected, or have called within the last minute. */
export async function listAliveAgents({ env, db }: SwitchboardServices): Promise<Agent[]> {
  const [agents, connected, heard] = await Promise.all([
    listAgents(db),
    switchboard(env).connected(),
    switchboard(env).heard(),
  ]);
  const since = Date.now() - forgottenAfterMs;
  const recent = heard.flatMap(({ agentId, at }) => (at.getTime() > since ? [agentId] : []));
  const alive = new Set([...connected, ...recent]);
  return agents.filter(({ id, lastSeenAt }) => alive.has(id) || (lastSeenAt?.getTime() ?? 0) > since);
}

/**
 * Why no agent does a build yet: no agent that can do it, or that has its builder root, is alive, or all of them are
 * drained, busy or out of disk space.
 */
export function whyNotYet(
  alive: readonly Agent[],
  wanted: Wanted & Pick<Build, "needsLvm" | "needsEfi">,
): Exclude<AgentsSeen, "unknown"> {
  const able = alive.flatMap(({ capabilities: can, drainedAt }) => (can ? [{ can, drainedAt }] : []));
  const fit = able.filter(({ can }) => canDo(can, wanted));
  const working = fit.filter(({ drainedAt }) => drainedAt === null);
  if (working.length > 0) return working.every(({ can }) => can.hasRoom === false) ? "full" : "busy";
  if (fit.length > 0) return "drained";
  return able.length > 0 && able.every(({ can }) => !hasRoot(can, wanted)) ? "rootless" : "none";
}

/** An agent that is alive heartbeats or polls more often than this. */
const forgottenAfterMs = 60_000;
