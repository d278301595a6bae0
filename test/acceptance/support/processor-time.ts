import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ of every Linux that runs on x86

/** Seconds of a processor that living processes have taken, and their children that are over: a busy host makes them no more. */
export function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): utime, stime, cutime and cstime are the fields 14 to 17, state behind the name in parentheses is 3.
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

/** Processes that work in exactly that directory. */
export const processesAt = (dir: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && workingDirectory(name) === dir)
    .map(Number);

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ""; // gone while we looked
  }
}
