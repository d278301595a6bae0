import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openBoundedLog } from "./bounded-log.ts";
import { marked } from "./leftovers.ts";
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

const restartAfterMs = 1_000;
/** Releasing its leases and ending KIWI and QEMU takes an agent a few seconds. */
const graceMs = 8_000;
/** A broken agent dies every second: say it so many times, then leave it to the log. */
const deathsShown = 3;

/** Keeps one builder agent running until it is stopped: started again one second after it dies. */
export function keepAgentRunning(configuration: string, stateDirectory: string): RunningAgent {
  const logFile = join(stateDirectory, "agent.log");
  const log = openBoundedLog(logFile);
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let deaths = 0;
  let stopping = false;
  let watcher: ((pid: number | null) => void) | undefined;
  const start = () => {
    const started = spawnAgent(configuration, log.descriptor);
    child = started;
    started.on("error", (error) => warn(`The builder agent does not start: ${error.message}`));
    started.on("exit", (code, signal) => {
      child = undefined;
      if (stopping) return;
      deaths += 1;
      if (deaths <= deathsShown)
        warn(`The builder agent ended (${signal ?? `exit ${code}`}), starting it again. ${lastLine(logFile)}`);
      if (deaths === deathsShown) print(`  If it ends again, only ${logFile} says so.`);
      restart = setTimeout(start, restartAfterMs);
    });
    watcher?.(started.pid ?? null);
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

const lastLine = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";

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
