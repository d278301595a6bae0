import { spawn, type ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import { node, projectRoot } from "../launch/project.ts";
import type { TestEvent } from "./event.ts";
import { Progress, type Tally } from "./tally.ts";

/** When a run's words appear: two runs at a time would mix theirs. */
export type Show = "at once" | "when it ends";

export interface Run {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  show: Show;
  config?: string;
  /** Leaves the processors to other runs as long as they want them. */
  isInBackground: boolean;
  /** A run in which nothing begins or ends for so long hangs, and is ended. More than any test or hook may take. */
  quietSeconds: number;
}

/** Before the first file begins a run may be quiet for so long. */
const startSeconds = 180;

/** Runs one project of the configuration, shows what vitest shows, and counts. */
export async function runVitest(
  project: string,
  { args, env, show, isInBackground, quietSeconds, config }: Run,
): Promise<Tally> {
  const output = show === "at once" ? "inherit" : "pipe";
  const child = spawn(node, [...command(project, config), ...args], {
    cwd: projectRoot,
    env,
    stdio: ["ignore", output, output, "ipc"],
    // A group of its own: all that a run has started can be ended with it.
    detached: true,
  });
  if (isInBackground && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  const words: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => words.push(chunk));
  try {
    return await tallyOf(child, quietSeconds);
  } finally {
    process.stdout.write(Buffer.concat(words));
  }
}

function tallyOf(child: ChildProcess, quietSeconds: number): Promise<Tally> {
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
  `--project=${project}`,
  "--reporter=minimal",
  "--reporter=./scripts/test/reporter.ts",
  // A filter may leave one of the runs without tests; all of them without is a failure, found by the count.
  "--passWithNoTests",
];
