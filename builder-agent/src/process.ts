import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { openLines } from "./lines.ts";

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Aborting kills the whole process group immediately; `run` then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Each line of standard output and standard error, in the order of arrival. */
  onLine?: (line: string) => void;
  /** The program's standard input. If it fails, the program fails too. Absent: there is no input. */
  input?: () => Promise<void>;
  /** Takes standard output as bytes instead; lines then come from standard error alone. */
  onOutput?: (output: Readable) => Promise<void>;
}

export type Exit = { code: number } | { killedBy: NodeJS.Signals };

/** Runs a program without a shell and waits until it and all that holds its output are gone. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<Exit> {
  const { signal, onLine = () => {} } = options;
  signal.throwIfAborted();
  const child = started(command, args, options);
  const kill = () => killGroup(child.pid);
  signal.addEventListener("abort", kill);
  const closed = new Promise<Exit>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, killedBy) => resolve(killedBy === null ? { code: code ?? -1 } : { killedBy }));
  });
  const outputs = [
    readLines(child.stderr, onLine),
    options.onOutput?.(child.stdout) ?? readLines(child.stdout, onLine),
  ];
  child.stdin?.on("error", () => {}); // it has ended before its input has
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
  // A process group of its own, so that its children can be killed with it.
  const options = { env: env ?? process.env, cwd, detached: true };
  return input === undefined
    ? spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    : spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
}

/** What a short command prints; it is an error if it does not end well. */
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
  if (!("code" in exit) || exit.code !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${said.join(" ") || endOf(exit)}`);
  return Buffer.concat(chunks).toString();
}

export const endOf = (exit: Exit): string => ("code" in exit ? `exit code ${exit.code}` : `killed by ${exit.killedBy}`);

/**
 * The same command in a process and a mount namespace of its own. When its first process is gone, the kernel ends all the
 * others, daemons of a package's script included, and with them every mount; and the first one goes when we do, even by
 * SIGKILL.
 */
export function enclosed(command: string, args: readonly string[]): [command: string, args: string[]] {
  const enclosure = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"];
  return ["setpriv", ["--pdeathsig", "KILL", "--", ...enclosure, command, ...args]];
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}

async function readLines(input: Readable, onLine: (line: string) => void): Promise<void> {
  const lines = openLines(onLine);
  for await (const bytes of input) await lines.take(bytes);
  lines.end();
}
