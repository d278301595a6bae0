import type { Snapshot } from "#domain/operation/snapshot";

/** A problem that blocks work. */
export interface Trouble {
  code: TroubleCode;
  message: string;
}

export const troubleCodes = ["no_agents", "builds_wait", "sweep_late", "imports_given_up", "disk_full"] as const;
type TroubleCode = (typeof troubleCodes)[number];

const minute = 60_000;
/** Long enough for an agent to restart. */
const withoutAgentsMs = 2 * minute;
/** How long a build may wait, depending on which agents could do it. */
const waits = {
  /** Idle agents claim a build within seconds. */
  "idle agents": { ms: 10 * minute, who: "an idle agent can do" },
  /** Other builds should end by then, or the service needs more agents. */
  "busy agents": { ms: 60 * minute, who: "only busy agents can do" },
  /** For full agents, finishing builds does not free disk space. */
  "full agents": { ms: 10 * minute, who: "only agents without room on their disks can do" },
};
/** The sweep runs every minute. */
const lateMs = 5 * minute;
/** How long an abandoned import counts as a problem. */
const givenUpMs = 60 * minute;

/** Everything that blocks work. Empty if nothing does. */
export const troublesOf = (now: Snapshot): Trouble[] =>
  [noAgents(now), buildsWait(now), sweepLate(now), importsGivenUp(now), diskFull(now)].flatMap(
    (trouble) => trouble ?? [],
  );

const aliveAgents = ({ agents }: Snapshot): number => agents.filter(({ isAlive }) => isAlive).length;

function noAgents(now: Snapshot): Trouble | undefined {
  const { queuedBuilds, queuedSince } = now.amounts;
  if (queuedSince === null || now.at - queuedSince < withoutAgentsMs || aliveAgents(now) > 0) return undefined;
  return { code: "no_agents", message: `No agent is alive, and ${queuedBuilds} builds are queued.` };
}

function buildsWait({ at, doable }: Snapshot): Trouble | undefined {
  if (!doable) return undefined;
  const { ms, who } = waits[doable.by];
  const waited = at - doable.waitsSince;
  if (waited < ms) return undefined;
  return { code: "builds_wait", message: `A build that ${who} has been queued for ${minutes(waited)} minutes.` };
}

function sweepLate({ at, chores }: Snapshot): Trouble | undefined {
  if (chores.length === 0) return { code: "sweep_late", message: "The sweep has not run yet." };
  const late = chores.filter(({ succeededAt }) => at - succeededAt.getTime() > lateMs);
  if (late.length === 0) return undefined;
  const names = late.map(({ chore }) => chore).join(", ");
  return {
    code: "sweep_late",
    message: `Chores of the sweep have not succeeded for ${minutes(lateMs)} minutes: ${names}.`,
  };
}

function importsGivenUp({ at, counters }: Snapshot): Trouble | undefined {
  const last = counters.find(({ name }) => name === "imports_given_up")?.changedAt.getTime();
  if (last === undefined || at - last > givenUpMs) return undefined;
  return {
    code: "imports_given_up",
    message: `An import of a repository was given up ${minutes(at - last)} minutes ago: each try failed or was killed.`,
  };
}

const diskFull = ({ isDiskFull }: Snapshot): Trouble | undefined =>
  isDiskFull
    ? { code: "disk_full", message: "The disk of the state directory is full: changes are refused." }
    : undefined;

const minutes = (ms: number): number => Math.floor(ms / minute);
