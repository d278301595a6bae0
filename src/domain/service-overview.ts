import type { AgentReport } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { asAble, listAliveAgents, whyNotYet } from "#domain/builds/agents-seen";
import { whyWaiting } from "#domain/builds/why-waiting";
import { switchboard } from "#domain/jobs";
import { listAgents, type Agent } from "#storage/agents";
import { countHeld, listEnded, listUnended, type NamedBuild } from "#storage/build-queue";
import type { Database } from "#storage/db";

/* The operator's view of the service. Every list has a limit, so none reads all of a growing table. */

type OverviewEnv = Pick<Env, "SWITCHBOARD">;

export interface AgentAtWork extends Agent {
  /** The time of the agent's last call, or of the last answer to its ping. */
  heardAt: Date | null;
  isAlive: boolean;
  builds: number;
  testdrives: number;
  /** Null if the agent is not connected, or if its version does not send this report. */
  report: Omit<AgentReport, "can"> | null;
}

export async function listAgentsAtWork({ env, db }: Services<OverviewEnv>): Promise<AgentAtWork[]> {
  const [all, alive, heard, reports, held] = await Promise.all([
    listAgents(db),
    listAliveAgents({ env, db }),
    switchboard(env).heard(),
    switchboard(env).reports(),
    countHeld(db),
  ]);
  return all.map((agent) => {
    const times = heard.filter(({ agentId }) => agentId === agent.id).map(({ at }) => at.getTime());
    const latest = Math.max(agent.lastSeenAt?.getTime() ?? 0, ...times);
    const { builds = 0, testdrives = 0 } = held.find(({ agentId }) => agentId === agent.id) ?? {};
    const isAlive = alive.some(({ id }) => id === agent.id);
    const report = reports.findLast(({ agentId }) => agentId === agent.id)?.report ?? null;
    return { ...agent, heardAt: latest === 0 ? null : new Date(latest), isAlive, builds, testdrives, report };
  });
}

export interface WaitingBuild extends NamedBuild {
  /** The message of the build, such as "Waiting: all builders are busy". */
  why: string;
}

const maxWaiting = 50;
const maxFailures = 20;

/** The oldest waiting builds of all accounts, and the reason why each is waiting. */
export async function listQueue({ env, db }: Services<OverviewEnv>): Promise<WaitingBuild[]> {
  const [waiting, alive] = await Promise.all([listUnended(db, "queued", maxWaiting), listAliveAgents({ env, db })]);
  const able = alive.map(asAble);
  return waiting.map((build) => ({ ...build, why: whyWaiting[whyNotYet(able, build)] }));
}

/** The builds of all accounts that agents are building. */
export const listAtWork = (db: Database): Promise<NamedBuild[]> => listUnended(db, "running", maxWaiting);

/** The latest builds that failed, because of their appliance (`failed`) or because of the service (`error`). */
export async function listFailures(db: Database): Promise<NamedBuild[]> {
  const each = await Promise.all([listEnded(db, "failed", maxFailures), listEnded(db, "error", maxFailures)]);
  return each
    .flat()
    .toSorted((one, other) => other.id - one.id)
    .slice(0, maxFailures);
}
