import { readdir, readFile } from "node:fs/promises";

/** How often the clock moves. A longer pause means that this host, or this process, stood still. */
const everyMs = 250;
const longestStepMs = 1_000;

/**
 * The seconds in which a guest could work. It stands still while QEMU waits for a processor of a busy host, so a
 * deadline by this clock does not blame the guest.
 */
export class GuestClock implements Disposable {
  readonly #pid: () => Promise<number | undefined>;
  readonly #timer: NodeJS.Timeout;
  readonly #waited = new Map<string, number>();
  #ms = 0;
  #last = performance.now();
  #isReading = false;

  /** @param pid the process of QEMU; undefined if it has ended */
  constructor(pid: () => Promise<number | undefined>) {
    this.#pid = pid;
    this.#timer = setInterval(() => void this.#step(), everyMs);
  }

  get seconds(): number {
    return this.#ms / 1000;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #step(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const waitedMs = await this.#longestWait().finally(() => (this.#isReading = false));
    const now = performance.now();
    const passed = Math.min(now - this.#last, longestStepMs);
    this.#last = now;
    this.#ms += Math.max(0, passed - waitedMs);
  }

  /** How many milliseconds the longest-waiting thread has waited for a processor since the last step. */
  async #longestWait(): Promise<number> {
    const pid = await this.#pid().catch(() => undefined);
    const threads = pid === undefined ? [] : await readdir(`/proc/${pid}/task`).catch(() => []);
    const waits = await Promise.all(threads.map((thread) => this.#waitOf(`/proc/${pid}/task/${thread}/schedstat`)));
    return Math.max(0, ...waits);
  }

  /** A kernel without these numbers counts as one that is never busy. */
  async #waitOf(path: string): Promise<number> {
    const text = await readFile(path, "latin1").catch(() => "");
    // Documentation/scheduler/sched-stats.rst: nanoseconds on the processor, and waiting for it.
    const waited = Number(text.split(" ")[1] ?? 0) / 1e6;
    const before = this.#waited.get(path) ?? waited;
    this.#waited.set(path, waited);
    return waited - before;
  }
}
