/**
 * Combines requests for the same work. A run covers every request made before it begins, so all callers during a run
 * share the next run, which begins at least `gapMs` after the previous one ended.
 */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  readonly #gapMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>, { gapMs }: { gapMs: number }) {
    this.#work = work;
    this.#gapMs = gapMs;
  }

  /** Resolves or rejects with a run that begins after this call. */
  run(): Promise<void> {
    return (this.#next ??= this.#runNext());
  }

  async #runNext(): Promise<void> {
    await this.#last;
    this.#next = undefined;
    const run = this.#work();
    const pause = () => scheduler.wait(this.#gapMs);
    this.#last = run.then(pause, pause);
    await run;
  }
}
