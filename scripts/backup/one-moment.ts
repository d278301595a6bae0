import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Complaint } from "../launch/complaint.ts";
import { processes, signalAll } from "../launch/process-tree.ts";

/** If this process dies while the service is paused, the service continues after this time. */
const longestSeconds = 20;
const tries = 20;
const pauseMs = 250;
/**
 * The time limit of `look`. If ten tries were too short, the machine is slow. A longer pause is better than no backup.
 */
const lookMs = 400;
const longLookMs = 5_000;
const shortTries = 10;

export type Moment<T> = { seen: T; stoodStillMs: number };

/**
 * Reads files of a running service while its processes are paused, so that all files are from the same moment, as after
 * a crash. `look` must not wait for anything, and throws at `endsAt`, a time of `performance.now()`. `prepare` runs
 * before each try.
 */
export async function atOneMoment<T>(
  database: string,
  { prepare, look }: { prepare: () => void; look: (endsAt: number) => T },
): Promise<Moment<T>> {
  let problem: unknown;
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      prepare();
      const maxMs = attempt < shortTries ? lookMs : longLookMs;
      return lookAtStopped(writersOf(database), () => look(performance.now() + maxMs));
    } catch (error) {
      // The reason may be, for example, that a process was stopped while it held a lock.
      problem = error;
    }
    await sleep(pauseMs);
  }
  throw new Complaint(`The service cannot be paused: ${problem instanceof Error ? problem.message : problem}.`);
}

function lookAtStopped<T>(writers: readonly number[], look: () => T): Moment<T> {
  if (writers.length === 0) throw new Error("it is starting or stopping");
  const pids = writers.map(String);
  const guard = spawn("sh", ["-c", 'sleep "$0"; kill -CONT "$@"', String(longestSeconds), ...pids], {
    detached: true,
    stdio: "ignore",
  });
  if (guard.pid === undefined) throw new Error("sh does not start");
  const startedAt = performance.now();
  try {
    signalAll(writers, "SIGSTOP");
    while (!writers.every(standsStill)) {
      if (performance.now() - startedAt > 2_000) throw new Error("its process does not stop");
      rest(1);
    }
    const seen = look();
    if (!writers.every(standsStill)) throw new Error(`reading its files takes longer than ${longestSeconds} s`);
    return { seen, stoodStillMs: performance.now() - startedAt };
  } finally {
    signalAll(writers, "SIGCONT");
    signalAll([-guard.pid], "SIGKILL");
  }
}

/** The processes of workerd that have the database open. */
function writersOf(database: string): number[] {
  const file = realpathSync(database);
  return processes()
    .filter(({ pid, state }) => state !== "Z" && textOf(`/proc/${pid}/comm`).trim() === "workerd")
    .map(({ pid }) => pid)
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((name) => targetOf(`/proc/${pid}/fd/${name}`) === file));
}

/** Whether all threads of a process are stopped. */
const standsStill = (pid: number): boolean =>
  namesIn(`/proc/${pid}/task`).every((thread) => /\) T /.test(textOf(`/proc/${pid}/task/${thread}/stat`)));

const rest = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// A process or a thread may end at any time.
const namesIn = (folder: string): string[] => unlessGone(() => readdirSync(folder), []);
const textOf = (file: string): string => unlessGone(() => readFileSync(file, "utf8"), "");
const targetOf = (link: string): string => unlessGone(() => readlinkSync(link), "");

function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
