import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { processorSeconds } from "./processor-time.ts";

const everyMs = 50;
const ticksPerSecond = 100; // USER_HZ of Linux on x86
const interpreters = /^(?:python[\d.]*|perl|sh|bash|dash|node)$/;

/**
 * Attributes the processor time of all processes that this process starts to programs, from samples. A process that
 * starts and ends between two samples has no name. `end` returns seconds by program, the largest first.
 */
export function watchPrograms(): { end: () => [program: string, seconds: number][] } {
  const before = { all: processorSeconds([process.pid]), own: process.cpuUsage() };
  const seen = new Map<string, { program: string; ticks: number }>();
  const timer = setInterval(() => sample(process.pid, seen), everyMs);
  return {
    end: () => {
      clearInterval(timer);
      sample(process.pid, seen);
      const seconds = new Map<string, number>();
      for (const { program, ticks } of seen.values())
        seconds.set(program, (seconds.get(program) ?? 0) + ticks / ticksPerSecond);
      const { user, system } = process.cpuUsage(before.own);
      seconds.set("the agent itself, with the sampling", (user + system) / 1e6);
      const named = [...seconds.values()].reduce((sum, each) => sum + each, 0);
      seconds.set("not sampled", processorSeconds([process.pid]) - before.all - named);
      return [...seconds].toSorted(([, left], [, right]) => right - left);
    },
  };
}

/** Samples all descendants of a process. */
function sample(pid: number, seen: Map<string, { program: string; ticks: number }>): void {
  for (const child of childrenOf(pid)) {
    try {
      const stat = readFileSync(`/proc/${child}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const ticks = Number(fields[11]) + Number(fields[12]);
      // A process id can be reused, and a process can execute another program.
      const program = programOf(child);
      const key = `${child} ${fields[19]}`;
      const last = seen.get(key);
      if (program !== "" || last) seen.set(key, { program: program || (last?.program ?? ""), ticks });
    } catch {
      continue; // The process has just ended.
    }
    sample(child, seen);
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function programOf(pid: number): string {
  const [program = "", script = "", more = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const name = basename(program);
  if (!interpreters.test(name)) return name;
  if (script.startsWith("-c") || script === "") return `${name} ${script}`.trim();
  return `${name} ${basename(script.startsWith("-") ? more : script)}`;
}
