import type { Services } from "#domain/services";
import type { Capabilities } from "#lib/contract/index";
import { canDo } from "#domain/builds/builder-abilities";
import { hasFullDisk } from "#domain/full-disk";
import { switchboard } from "#domain/jobs";
import { listAgents } from "#storage/agents";
import { listQueued } from "#storage/build-queue";
import { listCounters, type Counter } from "#storage/counters";
import type { Database } from "#storage/db";
import {
  databaseBytes,
  listBusyAgents,
  listChoreRuns,
  readAmounts,
  type Amounts,
  type ChoreRun,
} from "#storage/metrics";

/** A live agent calls or pings more often than this. */
const silentAfterMs = 60_000;
/** How many queued builds are compared with the agents' capabilities. The oldest ones decide. */
const comparedBuilds = 50;

/** The state of the service at one moment: the source of the metrics, the health and the status page. */
export interface Snapshot {
  at: number;
  amounts: Amounts;
  /** `isFull`: the agent is idle, but has no room on its disk for a build. */
  agents: { isAlive: boolean; isBusy: boolean; isDrained: boolean; isFull: boolean }[];
  /** The queued build that has waited longest, among those that a live agent can do. Undefined if there is none. */
  doable?: { waitsSince: number; by: "idle agents" | "busy agents" | "full agents" } | undefined;
  counters: Counter[];
  chores: ChoreRun[];
  databaseBytes: Record<"main" | "packages", number>;
  isDiskFull: boolean;
  slots: { builds: number; testdrives: number };
}

type SnapshotEnv = Pick<Env, "DISK" | "SWITCHBOARD" | "MAX_BUILDS" | "MAX_TESTDRIVES">;

export async function takeSnapshot({ env, db }: Services<SnapshotEnv>, at: number = Date.now()): Promise<Snapshot> {
  const [amounts, agents, counters, chores, bytes, isDiskFull] = await Promise.all([
    readAmounts(db),
    agentsNow({ env, db }, at),
    listCounters(db),
    listChoreRuns(db),
    databaseBytes(db),
    hasFullDisk(env),
  ]);
  return {
    at,
    amounts,
    agents,
    doable: amounts.queuedBuilds === 0 ? undefined : await oldestDoable(db, agents),
    counters,
    chores,
    databaseBytes: bytes,
    isDiskFull,
    slots: { builds: Number(env.MAX_BUILDS), testdrives: Number(env.MAX_TESTDRIVES) },
  };
}

type AgentNow = Snapshot["agents"][number] & { can: Capabilities | null };

async function agentsNow({ env, db }: Services<SnapshotEnv>, at: number): Promise<AgentNow[]> {
  const [agents, busy, heard] = await Promise.all([listAgents(db), listBusyAgents(db), switchboard(env).heard()]);
  const heardSince = (id: number) =>
    heard.some((ping) => ping.agentId === id && ping.at.getTime() > at - silentAfterMs);
  return agents.map(({ id, lastSeenAt, capabilities, drainedAt }) => ({
    isAlive: (lastSeenAt?.getTime() ?? 0) > at - silentAfterMs || heardSince(id),
    isBusy: busy.includes(id),
    isFull: capabilities?.hasRoom === false && !busy.includes(id),
    isDrained: drainedAt !== null,
    can: drainedAt === null ? capabilities : null,
  }));
}

async function oldestDoable(db: Database, agents: AgentNow[]): Promise<Snapshot["doable"]> {
  const alive = agents.filter(({ isAlive }) => isAlive);
  const queued = await listQueued(db, { limit: comparedBuilds });
  const waiting = queued.flatMap(({ build, arch }) => {
    const able = alive.filter(({ can }) => can && canDo(can, { ...build, arch }));
    const waitsSince = (build.requeuedAt ?? build.createdAt).getTime();
    return able.length === 0 ? [] : [{ waitsSince, by: workersIn(able) }];
  });
  return waiting.toSorted((one, other) => one.waitsSince - other.waitsSince)[0];
}

/** The kind of agent that should do the build next. */
function workersIn(able: readonly AgentNow[]): NonNullable<Snapshot["doable"]>["by"] {
  if (able.some(({ isBusy, isFull }) => !isBusy && !isFull)) return "idle agents";
  return able.some(({ isBusy }) => isBusy) ? "busy agents" : "full agents";
}

let latest: Snapshot | undefined;
/** The maximum age of a snapshot that callers share. */
const recentMs = 10_000;

/** A snapshot that is at most some seconds old, shared by all requests of the isolate. */
export async function recentSnapshot({ env, db }: Services<SnapshotEnv>): Promise<Snapshot> {
  const now = Date.now();
  if (!latest || latest.at < now - recentMs || latest.at > now) latest = await takeSnapshot({ env, db }, now);
  return latest;
}
