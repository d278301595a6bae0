import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { storedInMemory } from "../test/memory.ts";
import type { Order, Outcome } from "./vitest.ts";

/**
 * A fault in the agent's clean-up can unmount any file system and kill any process of the machine. So the tests run
 * with separate mounts and processes. That needs root, but without root, a fault cannot do such harm.
 */
const sandbox: ForkOptions =
  process.getuid?.() === 0
    ? {
        execPath: "unshare",
        execArgv: ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", process.execPath, ...process.execArgv],
      }
    : {};

/** Runs tests in a copy of the project. A run that hangs is killed with everything that it started. */
export class Runner implements Disposable {
  #child: ChildProcess | undefined;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns undefined if the run took longer than `seconds`. */
  async run(order: Order, seconds: number): Promise<Outcome | undefined> {
    const child = (this.#child ??= await this.#start());
    const deadline = AbortSignal.timeout(seconds * 1000);
    const over = new AbortController();
    try {
      child.send(order);
      const exited = once(child, "exit", { signal: over.signal });
      const ended = await Promise.race([once(child, "message", { signal: deadline }), exited.then(() => undefined)]);
      if (ended) return ended[0] as Outcome;
      this.#child = undefined;
      return { files: [], errors: ["vitest itself ended"] };
    } catch (error) {
      if (!deadline.aborted) throw error;
      this[Symbol.dispose]();
      return undefined;
    } finally {
      over.abort();
    }
  }

  [Symbol.dispose](): void {
    if (this.#child?.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(join(this.#folder, "scripts/mutate/vitest.ts"), {
      cwd: this.#folder,
      env: storedInMemory(process.env),
      ...sandbox,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    await once(child, "message");
    return child;
  }
}
