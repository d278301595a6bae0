import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Complaint } from "./complaint.ts";
import { descendants, signalAll } from "./process-tree.ts";

export type CommandOptions = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with each line of standard output and standard error. */
  onLine?: (line: string) => void;
  /** Ends the command and everything that it started. */
  signal?: AbortSignal | undefined;
};

const linesShown = 20;

/** Runs a command to completion, and returns its standard output. A failure is a Complaint with the last lines. */
export async function command(name: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  const child = spawn(name, args, { cwd: options.cwd, env: options.env, stdio: ["ignore", "pipe", "pipe"] });
  const stop = () => child.pid !== undefined && signalAll([...descendants(child.pid), child.pid], "SIGTERM");
  options.signal?.addEventListener("abort", stop);
  const last: string[] = [];
  const output: string[] = [];
  const take = (line: string) => {
    last.push(line);
    if (last.length > linesShown) last.shift();
    options.onLine?.(line);
  };
  createInterface({ input: child.stdout }).on("line", (line) => (output.push(line), take(line)));
  createInterface({ input: child.stderr }).on("line", take);
  const ended = await new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(code === 0 ? "" : `exit ${code ?? signal}`));
  });
  options.signal?.removeEventListener("abort", stop);
  options.signal?.throwIfAborted();
  if (ended !== "") throw new Complaint(`${[name, ...args].join(" ")} failed (${ended}):\n${last.join("\n")}`);
  return output.join("\n");
}
