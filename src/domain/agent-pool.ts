import { startsMachine, type AgentReport, type Arch, type Capabilities, type Job } from "#lib/contract/index";
import { canDo, type BuildWanted } from "#domain/builds/builder-abilities";

/** Only those facts of a build that decide which agents can do it. */
export const wantedOf = (build: BuildWanted): BuildWanted => {
  const { imageType, arch, packageType, builderRoot, needsLvm, needsEfi, fileSystem, rebuildOf } = build;
  return { imageType, arch, packageType, builderRoot, needsLvm, needsEfi, fileSystem, ...(rebuildOf && { rebuildOf }) };
};

/** Work that is waiting for an agent. `isAgain`: an agent was already woken for it, and has not claimed it. */
export type WaitingWork = ({ kind: "build"; wanted: BuildWanted } | { kind: "testdrive"; arch?: Arch | undefined }) & {
  isAgain?: boolean;
  /** The only agent that can do the work. Default: any. */
  agentId?: number | undefined;
};

/** The facts about a connected agent. */
export interface Member {
  report?: Omit<AgentReport, "can">;
  /** The key of the agent's abilities. Absent for an older agent. */
  abilities?: string;
  /** Whether the operator has drained the agent, so that it gets no more work. */
  isDrained?: boolean;
  /** When the agent was last woken, and for how much work since its last report. */
  woken?: { at: number; builds: number; testdrives: number };
}

/**
 * An agent that was woken and has reported nothing since has probably not found the work. After this time, it counts as
 * free again.
 */
const wokenForMs = 30_000;
const slotsOf = { build: "builds", testdrive: "testdrives" } as const;

/**
 * How many more jobs of this kind the agent would take, by its last report, minus those that it was woken for since
 * then.
 */
function freeSlots({ report, woken, isDrained }: Member, kind: Job["kind"], at: number): number {
  const slots = slotsOf[kind];
  const taken = woken && at - woken.at < wokenForMs ? woken[slots] : 0;
  return isDrained ? 0 : (report?.free?.[slots] ?? 0) - taken;
}

/** Whether an agent does not report its abilities and free slots. Older agents do not. */
export const isSilent = ({ abilities, report }: Member): boolean =>
  abilities === undefined || report?.free === undefined;

/**
 * The agent to wake for some work: the one with the most free slots among those that can do it. Among equals, the one
 * that has not been woken for the longest time. Undefined if no agent is free.
 */
export function chooseFree<T extends { member: Member }>(
  agents: readonly T[],
  { work, at, can }: { work: WaitingWork; at: number; can: (abilities: string) => Capabilities | undefined },
): T | undefined {
  const fits = new Map<string, boolean>();
  const fit = (abilities: string): boolean => {
    const known = fits.get(abilities) ?? isFit(can(abilities), work);
    fits.set(abilities, known);
    return known;
  };
  let best: { agent: T; free: number; wokenAt: number } | undefined;
  for (const agent of agents) {
    const { abilities, woken } = agent.member;
    const free = freeSlots(agent.member, work.kind, at);
    if (free <= 0 || abilities === undefined || !fit(abilities)) continue;
    const wokenAt = woken?.at ?? 0;
    const isBetter = !best || free > best.free || (free === best.free && wokenAt < best.wokenAt);
    if (isBetter) best = { agent, free, wokenAt };
  }
  return best?.agent;
}

function isFit(can: Capabilities | undefined, work: WaitingWork): boolean {
  if (!can) return false;
  if (work.kind === "testdrive") return can.testdrives && startsMachine(can, work.arch);
  return can.hasRoom !== false && canDo(can, work.wanted);
}

/** The agent after it was woken for some work. */
export function afterWaking(member: Member, kind: Job["kind"], at: number): Member {
  const slots = slotsOf[kind];
  const { at: _, ...counts } = member.woken ?? { at: 0, builds: 0, testdrives: 0 };
  const isForgotten = member.woken !== undefined && at - member.woken.at >= wokenForMs;
  const before = isForgotten ? { builds: 0, testdrives: 0 } : counts;
  return { ...member, woken: { ...before, at, [slots]: before[slots] + 1 } };
}

/** The agent after its report. */
export const afterReport = (member: Member, report: Member["report"], abilities: string | undefined): Member => ({
  ...member,
  ...(report && { report }),
  ...(abilities !== undefined && { abilities }),
  ...(member.woken && { woken: { at: member.woken.at, builds: 0, testdrives: 0 } }),
});

/**
 * How many agents may connect per second after all of them have lost their sockets. Each makes a few calls when it
 * connects.
 */
const redialsASecond = 50;

/** The number of seconds over which that many agents spread their next connection. */
export const redialSeconds = (agents: number): number => Math.floor(agents / redialsASecond);
