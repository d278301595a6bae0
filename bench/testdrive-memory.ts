import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The memory of all sessions' QEMUs in MiB, with shared pages counted once. */
export function memoryOfTestdrives(stateDir: string): number {
  const sessions = join(stateDir, "agent/testdrives/");
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const kib = pids.map((pid) => proportionalKib(pid, sessions)).reduce((sum, each) => sum + each, 0);
  return Math.round(kib / 1024);
}

function proportionalKib(pid: string, below: string): number {
  try {
    if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(below)) return 0;
    return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // It has just ended.
  }
}
