import { spawn, type ChildProcess } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { openLines } from "./lines.ts";

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Aborting kills the whole process group immediately. `run` then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Each line of standard output and standard error, in the order of arrival. */
  onLine?: (line: string) => void;
  /**
   * Writes the program's standard input. If this fails, the program counts as failed. Without it, there is no input.
   */
  input?: () => Promise<void>;
  /** Receives standard output as bytes. Lines then come only from standard error. */
  onOutput?: (output: Readable) => Promise<void>;
}

export type Exit = { code: number } | { killedBy: NodeJS.Signals };

export const hasSucceeded = (exit: Exit): boolean => "code" in exit && exit.code === 0;

export const endOf = (exit: Exit): string => ("code" in exit ? `exit code ${exit.code}` : `killed by ${exit.killedBy}`);

/** Runs a program without a shell. Settles when it has ended and no other process holds its output. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<Exit> {
  const { signal, onLine = () => {} } = options;
  signal.throwIfAborted();
  const child = started(command, args, options);
  const kill = () => killGroup(child.pid);
  signal.addEventListener("abort", kill);
  const closed = exitOf(child);
  const outputs = [
    readLines(child.stderr, onLine),
    options.onOutput?.(child.stdout) ?? readLines(child.stdout, onLine),
  ];
  child.stdin?.on("error", () => {}); // the program ended before its input
  const input = options.input?.().then(() => child.stdin?.end());
  try {
    const [exit] = await Promise.all([closed, input, ...outputs]);
    signal.throwIfAborted();
    return exit;
  } catch (error) {
    kill();
    await Promise.allSettled([closed, input]);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

function started(command: string, args: readonly string[], { env, cwd, input }: RunOptions) {
  // The program gets its own process group, so that its children are killed with it.
  const options = { env: env ?? process.env, cwd, detached: true };
  return input === undefined
    ? spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    : spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
}

/** Settles when the program has ended and its output is closed. Rejects if it cannot be started. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, killedBy) => resolve(killedBy === null ? { code: code ?? -1 } : { killedBy }));
  });
}

/** The output of a short command. Throws if the command fails. */
export async function outputOf(command: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const said: string[] = [];
  const chunks: Buffer[] = [];
  const exit = await run(command, args, {
    signal,
    onLine: (line) => void said.push(line),
    onOutput: async (output) => {
      for await (const chunk of output) chunks.push(chunk);
    },
  });
  if (!hasSucceeded(exit)) throw new Error(`${command} ${args.join(" ")}: ${said.join(" ") || endOf(exit)}`);
  return Buffer.concat(chunks).toString();
}

export const succeeds = (command: string, args: readonly string[], signal: AbortSignal): Promise<boolean> =>
  outputOf(command, args, signal).then(
    () => true,
    () => false,
  );

const maxTrialMs = 30_000;

/**
 * The reason why a command fails: the last line that it writes, or how it ends. Empty if it succeeds. Throws if it
 * cannot be started.
 */
export async function whyItFails(command: string, args: readonly string[], env?: Record<string, string>) {
  let last = "";
  const signal = AbortSignal.timeout(maxTrialMs);
  const exit = await run(command, args, { signal, ...(env && { env }), onLine: (line) => (last = line) });
  return hasSucceeded(exit) ? "" : last || endOf(exit);
}

/**
 * The same command in its own process and mount namespace. When its first process ends, the kernel ends all the others,
 * including daemons that a package's script started, and removes every mount. The first process ends when the agent
 * does, even if the agent is killed by SIGKILL.
 */
export function enclosed(command: string, args: readonly string[]): [command: string, args: string[]] {
  const sandbox = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"];
  return ["setpriv", ["--pdeathsig", "KILL", "--", ...sandbox, command, ...args]];
}

/** The processes of this host that `isWanted` accepts. */
export async function processesWhere(isWanted: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isWanted(pid)) ? [pid] : [])));
  return found.flat();
}

const msPerTick = 10; // USER_HZ of Linux is 100

/** The processor time that a process has used, in milliseconds. Undefined if it has ended. */
export async function processorMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  // proc(5): utime and stime are fields 14 and 15; the state, after the name in parentheses, is field 3.
  const [user, system] =
    stat
      ?.slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13) ?? [];
  return user === undefined ? undefined : (Number(user) + Number(system)) * msPerTick;
}

/** Does nothing if the process has ended. @param pid a negative number kills a process group */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** @param leader undefined if the program could not be started */
export function killGroup(leader: number | undefined): void {
  if (leader !== undefined) killProcess(-leader);
}

async function readLines(input: Readable, onLine: (line: string) => void): Promise<void> {
  const lines = openLines(onLine);
  for await (const bytes of input) await lines.take(bytes);
  lines.end();
}
