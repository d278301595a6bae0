import type { Place } from "#domain/place";
import { canDo, hasRoot } from "#domain/builds/builder-abilities";
import type { AgentsSeen } from "#domain/builds/machine";
import { switchboard } from "#domain/jobs";
import { listAgents } from "#storage/agents";
import { findAnyAppliance } from "#storage/appliances";
import { findBuildByUid } from "#storage/builds";

/** Why a build waits: no agent that can do it, or that has its builder root, is connected, or all of them are busy or out of disk space. */
export async function agentsSeen({ env, db }: Place<Pick<Env, "SWITCHBOARD">>, uid: string): Promise<AgentsSeen> {
  const build = await findBuildByUid(db, uid);
  const [appliance, agents, connected] = await Promise.all([
    build && findAnyAppliance(db, build.applianceId),
    listAgents(db),
    switchboard(env).connected(),
  ]);
  if (!build || !appliance) return "none";
  const wanted = { ...build, arch: appliance.arch };
  const alive = agents.filter(
    ({ id, lastSeenAt }) => connected.includes(id) || (lastSeenAt?.getTime() ?? 0) > Date.now() - forgottenAfterMs,
  );
  const able = alive.flatMap(({ capabilities }) => capabilities ?? []);
  const fit = able.filter((can) => canDo(can, wanted));
  if (fit.length > 0) return fit.every(({ hasRoom }) => hasRoom === false) ? "full" : "busy";
  return able.length > 0 && able.every((can) => !hasRoot(can, wanted)) ? "rootless" : "none";
}

/** An agent that is alive heartbeats or polls more often than this. */
const forgottenAfterMs = 60_000;
