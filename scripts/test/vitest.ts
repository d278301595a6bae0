import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { node, projectRoot } from "../launch/project.ts";
import type { TestEvent } from "./event.ts";
import { Progress, type Tally } from "./tally.ts";

/** When a run's output is shown. Two runs at the same time would mix their output. */
export type Show = "immediately" | "when it ends";

export interface Run {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  show: Show;
  config?: string;
  /** Runs with a low priority, so that other runs get the processors first. */
  isInBackground: boolean;
  /** A run in which no test begins or ends for this long is killed. Longer than any test or hook may take. */
  quietSeconds: number;
  onEvent?: (event: TestEvent) => void;
}

/** The limit before the first file begins. */
const startSeconds = 180;

/** Runs one vitest project, shows its output and counts the results. */
export async function runVitest(
  project: string,
  { args, env, show, isInBackground, quietSeconds, config, onEvent }: Run,
): Promise<Tally> {
  const output = show === "immediately" ? "inherit" : "pipe";
  const child = spawn(node, [...command(project, config), ...args], {
    cwd: projectRoot,
    env,
    stdio: ["ignore", output, output, "ipc"],
    // A separate process group, so that everything that the run starts can be killed with it.
    detached: true,
  });
  if (isInBackground && child.pid !== undefined) yieldProcessors(child.pid);
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  const words: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => words.push(chunk));
  try {
    return await tallyOf(child, quietSeconds, onEvent);
  } finally {
    process.stdout.write(Buffer.concat(words));
  }
}

/**
 * Gives a run a third of the processor time of other processes. With much less, an emulated machine misses its own
 * timer, and its kernel stops.
 */
const backgroundPriority = 5;

/**
 * If Linux gives each session the same share of the processors, a priority counts only within its session. So this also
 * sets the priority of the session.
 */
function yieldProcessors(pid: number): void {
  setPriority(pid, backgroundPriority);
  const session = `/proc/${pid}/autogroup`;
  if (existsSync(session)) writeFileSync(session, String(backgroundPriority));
}

function tallyOf(child: ChildProcess, quietSeconds: number, onEvent: Run["onEvent"] = () => {}): Promise<Tally> {
  const progress = new Progress();
  let hung: Tally | undefined;
  return new Promise((resolve, reject) => {
    const wait = (seconds: number) =>
      setTimeout(() => {
        hung = progress.hung(seconds);
        endGroup(child);
      }, seconds * 1000);
    let quiet = wait(startSeconds);
    child.on("message", (event: TestEvent) => {
      progress.note(event);
      onEvent(event);
      clearTimeout(quiet);
      quiet = wait(quietSeconds);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(quiet);
      resolve(hung ?? progress.ended(code ?? 1));
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

const command = (project: string, config = "test/vitest.config.ts"): string[] => [
  "node_modules/vitest/vitest.mjs",
  "run",
  `--config=${config}`,
  `--project=${project}*`, // also the one for tests that run alone
  "--reporter=minimal",
  "--reporter=./scripts/test/reporter.ts",
  // A filter may select no tests of this project. If it selects none of any project, expectTests reports a failure.
  "--passWithNoTests",
];
