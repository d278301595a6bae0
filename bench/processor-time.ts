import { readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ of Linux on x86

/** Processor seconds of these processes and their ended children. A busy host may double them; elapsed time would grow much more. */
export function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): utime, stime, cutime and cstime are fields 14 to 17; the state, after the name in parentheses, is field 3.
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}
