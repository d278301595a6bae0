import { canDo } from "#domain/builds/builder-abilities";
import type { AgentsSeen } from "#domain/builds/machine";
import { switchboard } from "#domain/jobs";
import { listAgents } from "#storage/agents";
import { findAnyAppliance } from "#storage/appliances";
import { findBuildByUid } from "#storage/builds";
import type { Database } from "#storage/db";

/** Why a build waits: no agent that can do it is connected, or all of them are busy or out of disk space. */
export async function agentsSeen(env: Pick<Env, "SWITCHBOARD">, db: Database, uid: string): Promise<AgentsSeen> {
  const build = await findBuildByUid(db, uid);
  const [appliance, agents, connected] = await Promise.all([
    build && findAnyAppliance(db, build.applianceId),
    listAgents(db),
    switchboard(env).connected(),
  ]);
  if (!build || !appliance) return "none";
  const wanted = { ...build, arch: appliance.arch };
  const fit = agents.filter(
    ({ id, lastSeenAt, capabilities }) =>
      capabilities &&
      canDo(capabilities, wanted) &&
      (connected.includes(id) || (lastSeenAt?.getTime() ?? 0) > Date.now() - forgottenAfterMs),
  );
  if (fit.length === 0) return "none";
  return fit.every(({ capabilities }) => capabilities?.hasRoom === false) ? "full" : "busy";
}

/** An agent that is alive heartbeats or polls more often than this. */
const forgottenAfterMs = 60_000;
