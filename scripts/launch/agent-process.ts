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
  /** Null while the agent is not running. */
  pid(): number | null;
  /** Calls the listener with the pid now and at every start. */
  watch(listener: (pid: number | null) => void): void;
  stop(): Promise<void>;
};

const maxPauseMs = 60_000;
/** After an agent has run this long, the next pause is the shortest again. */
const healthyAfterMs = 60_000;
/** An agent needs a few seconds to release its leases and to end KIWI and QEMU. */
const graceMs = 8_000;
/** The number of consecutive failures to show. Later ones are only in the log. */
const deathsShown = 3;

/** Keeps one builder agent running until it is stopped. Restarts it whenever it ends, with increasing pauses. */
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
    const pauseMs = pauseAfter(deaths, maxPauseMs);
    if (deaths <= deathsShown) {
      warn(`The builder agent ended (${why}). Restarting it in ${pauseMs / 1_000} s. ${lastLine(logFile)}`);
    }
    if (deaths === deathsShown) print(`  Further ends are only logged in ${logFile}.`);
    restart = setTimeout(start, pauseMs);
  };
  const start = () => {
    const startedAt = Date.now();
    const started = spawnAgent(configuration, log.descriptor);
    child = started;
    // A program that cannot be started emits "error" but not "exit".
    started.once("error", (error) => started.pid === undefined && ended(error.message, startedAt));
    started.once("exit", (code, signal) => ended(signal ?? `exit ${code}`, startedAt));
    if (started.pid !== undefined) report(started.pid);
  };
  const report = (pid: number) => {
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
 * Starts the agent in its own session, so that Ctrl-C reaches only the launcher. If the launcher is killed with
 * SIGKILL, the kernel signals the agent to stop.
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

/**
 * Sends SIGTERM to the agent, which ends its KIWI and QEMU. After the grace time, sends SIGKILL to the rest of the
 * tree.
 */
async function endAgent(pid: number, stateDirectory: string): Promise<void> {
  const tree = new Set([pid, ...descendants(pid), ...sessionOf(pid)]);
  if (isAlive(pid)) signalAll([pid], "SIGTERM");
  await untilGone([pid], graceMs);
  for (const each of [...descendants(pid), ...sessionOf(pid)]) tree.add(each);
  const left = [...tree].filter(isAlive);
  if (left.length > 0) signalAll(left, "SIGKILL");
  await untilGone(left, graceMs);
  // Processes that left the tree and the session are found by their mark. workerd is excluded, because it stops after
  // the agent.
  const strays = marked(stateDirectory).filter((each) => !descendants(process.pid).includes(each));
  await end(strays, 1_000);
}
