import type { Services } from "#domain/services";
import { canDo, hasRoot, type BuildWanted } from "#domain/builds/builder-abilities";
import type { AgentsSeen } from "#domain/builds/why-waiting";
import { switchboard } from "#domain/jobs";
import type { Capabilities } from "#lib/contract/index";
import { listAgents, listAgentsSeen, type Agent } from "#storage/agents";

type SwitchboardServices = Services<Pick<Env, "SWITCHBOARD">>;

/** The facts about a live agent that decide what it could do. */
export interface AbleAgent {
  capabilities: Capabilities | null;
  isDrained: boolean;
}

/** The reason why a build waits, determined from all live agents except `except`. */
export async function agentsSeen(
  { env, db }: SwitchboardServices,
  wanted: BuildWanted,
  except?: number,
): Promise<AgentsSeen> {
  const { known, unknown } = await switchboard(env).abilities(maxUnknown, except);
  const seen = whyNotYet(known, wanted);
  if (seen === "busy") return seen;
  // The other agents have no socket, or have not reported their abilities on it.
  const others = await listAgentsSeen(db, { since: new Date(Date.now() - forgottenAfterMs), ids: unknown });
  const able = others.filter(({ id }) => id !== except).map(asAble);
  return whyNotYet([...known, ...able], wanted);
}

export const asAble = ({ capabilities, drainedAt }: Agent): AbleAgent => ({
  capabilities,
  isDrained: drainedAt !== null,
});

/** Agents that are connected, or that called within the last minute. */
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
 * Why no agent builds it yet: no live agent can do it or has its builder root, or all that can are drained, busy or out
 * of disk space.
 */
export function whyNotYet(alive: readonly AbleAgent[], wanted: BuildWanted): Exclude<AgentsSeen, "unknown"> {
  const able = alive.flatMap(({ capabilities: can, isDrained }) => (can ? [{ can, isDrained }] : []));
  const fit = able.filter(({ can }) => canDo(can, wanted));
  const working = fit.filter(({ isDrained }) => !isDrained);
  if (working.length > 0) return working.every(({ can }) => can.hasRoom === false) ? "full" : "busy";
  if (fit.length > 0) return "drained";
  return able.length > 0 && able.every(({ can }) => !hasRoot(can, wanted)) ? "rootless" : "none";
}

/**
 * The number of agents whose rows are read because only the rows have their abilities. A statement has parameters for
 * that many.
 */
const maxUnknown = 50;
/** A live agent sends heartbeats or polls more often than this. */
export const forgottenAfterMs = 60_000;
