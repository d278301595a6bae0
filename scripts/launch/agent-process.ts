import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pauseAfter } from "./back-off.ts";
import { openBoundedLog } from "./bounded-log.ts";
import { marked } from "./leftovers.ts";
import { readIfThere } from "./private-file.ts";
import { descendants, end, isAlive, sessionOf, signalAll, untilGone } from "./process-tree.ts";
import { node, projectRoot } from "./project.ts";
import { print, warn } from "./progress.ts";

export type RunningAgent = {
  /** null between two lives. */
  pid(): number | null;
  /** Tells the pid now, and again at every start. */
  watch(listener: (pid: number | null) => void): void;
  stop(): Promise<void>;
};

const longestPauseMs = 60_000;
/** An agent that ran for so long is not one that cannot start: the pauses begin from the shortest again. */
const healthyAfterMs = 60_000;
/** Releasing its leases and ending KIWI and QEMU takes an agent a few seconds. */
const graceMs = 8_000;
/** So many deaths in a row are shown; the rest is only in the log. */
const deathsShown = 3;

/** Keeps one builder agent running until it is stopped. It is started again after it ends, more slowly each time in a row. */
export function keepAgentRunning(configuration: string, stateDirectory: string): RunningAgent {
  const logFile = join(stateDirectory, "agent.log");
  const log = openBoundedLog(logFile);
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let deaths = 0;
  let stopping = false;
  let watcher: ((pid: number | null) => void) | undefined;
  const ended = (why: string, startedAt: number) => {
    child = undefined;
    if (stopping) return;
    deaths = Date.now() - startedAt > healthyAfterMs ? 1 : deaths + 1;
    const pauseMs = pauseAfter(deaths, longestPauseMs);
    if (deaths <= deathsShown) {
      warn(`The builder agent ended (${why}). Starting it again in ${pauseMs / 1_000} s. ${lastLine(logFile)}`);
    }
    if (deaths === deathsShown) print(`  If it ends again, only ${logFile} says so.`);
    restart = setTimeout(start, pauseMs);
  };
  const start = () => {
    const startedAt = Date.now();
    const started = spawnAgent(configuration, log.descriptor);
    child = started;
    // A program that cannot be started has an error and no exit.
    started.once("error", (error) => started.pid === undefined && ended(error.message, startedAt));
    started.once("exit", (code, signal) => ended(signal ?? `exit ${code}`, startedAt));
    if (started.pid !== undefined) tell(started.pid);
  };
  const tell = (pid: number) => {
    try {
      watcher?.(pid);
    } catch (error) {
      warn(`The new process id of the builder agent could not be saved: ${String(error)}`);
    }
  };
  start();
  return {
    pid: () => child?.pid ?? null,
    watch: (listener) => {
      watcher = listener;
      listener(child?.pid ?? null);
    },
    stop: async () => {
      stopping = true;
      clearTimeout(restart);
      if (child?.pid !== undefined) await endAgent(child.pid, stateDirectory);
      log.close();
    },
  };
}

/**
 * In a session of its own, so that Ctrl-C reaches the launcher alone; should the launcher be killed outright, the kernel
 * asks the agent to stop.
 */
function spawnAgent(configuration: string, log: number): ChildProcess {
  const setpriv = "/usr/bin/setpriv";
  const guard = existsSync(setpriv) ? [setpriv, "--pdeathsig", "TERM", "--"] : [];
  const [program, ...args] = [
    ...guard,
    node,
    join(projectRoot, "builder-agent/src/main.ts"),
    "--config",
    configuration,
  ];
  return spawn(program ?? node, args, { cwd: projectRoot, detached: true, stdio: ["ignore", log, log] });
}

const lastLine = (path: string) => (readIfThere(path) ?? "").trim().split("\n").at(-1)?.trim() ?? "";

/** SIGTERM to the agent, which ends its KIWI and QEMU; after the grace, SIGKILL to all that is left of its tree. */
async function endAgent(pid: number, stateDirectory: string): Promise<void> {
  const tree = new Set([pid, ...descendants(pid), ...sessionOf(pid)]);
  if (isAlive(pid)) signalAll([pid], "SIGTERM");
  await untilGone([pid], graceMs);
  for (const each of [...descendants(pid), ...sessionOf(pid)]) tree.add(each);
  const left = [...tree].filter(isAlive);
  if (left.length > 0) signalAll(left, "SIGKILL");
  await untilGone(left, graceMs);
  // What left the tree and the session is found by its mark; workerd is not among it: it stops after the agent.
  const strays = marked(stateDirectory).filter((each) => !descendants(process.pid).includes(each));
  await end(strays, 1_000);
}
