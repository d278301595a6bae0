import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const checkEveryMs = 50;

type ProcessEntry = { pid: number; state: string; parent: number; session: number };

/** Every descendant of a process, its own children first. */
export function descendants(pid: number): number[] {
  const all = processes();
  const below = (parent: number): number[] =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each.pid, ...below(each.pid)]);
  return below(pid);
}

/** Every process of the session with this leader, including those whose parent has ended. */
export function sessionOf(leader: number): number[] {
  return processes()
    .filter((each) => each.session === leader)
    .map((each) => each.pid);
}

/** This process and its ancestors, which must never be killed. */
export function ownLine(): Set<number> {
  const parents = new Map(processes().map((each) => [each.pid, each.parent]));
  const line = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && pid > 0; pid = parents.get(pid)) line.add(pid);
  return line;
}

/** Whether a process is running. A zombie does not count. */
export function isAlive(pid: number): boolean {
  const entry = readEntry(pid);
  return entry !== undefined && entry.state !== "Z";
}

export function signalAll(pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has already ended.
    }
  }
}

/** Sends SIGTERM to processes, and SIGKILL to those that are still running after the grace time. */
export async function end(pids: Iterable<number>, graceMs: number): Promise<void> {
  const all = [...pids];
  signalAll(all, "SIGTERM");
  if (await untilGone(all, graceMs)) return;
  signalAll(all.filter(isAlive), "SIGKILL");
  await untilGone(all, graceMs);
}

/** Waits until all of them have ended. Returns false if that takes longer than the time. */
export async function untilGone(pids: readonly number[], timeMs: number): Promise<boolean> {
  const until = Date.now() + timeMs;
  while (pids.some(isAlive)) {
    if (Date.now() > until) return false;
    await sleep(checkEveryMs);
  }
  return true;
}

/** The processes of this machine by number. */
export function processes(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readEntry(Number(name)) ?? []);
}

function readEntry(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): the name is in parentheses, and may contain spaces and parentheses.
    const [state = "", parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, state, parent: Number(parent), session: Number(session) };
  } catch {
    return undefined;
  }
}
