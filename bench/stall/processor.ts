import { readFileSync } from "node:fs";

/**
 * How long a thread has been ready to run while other programs had the processor, in ms since it began: the second field of
 * schedstat (Linux, Documentation/scheduler/sched-stats.rst).
 */
export function waitedMs(thread: `${number}/task/${number}` | "thread-self"): number {
  const [, nanoseconds] = readFileSync(`/proc/${thread}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}

/** workerd answers every request in its first thread, whose id is the process's. */
export const loopOf = (pid: number) => `${pid}/task/${pid}` as const;
