/**
 * Work that many ask for, and that covers everything asked for before it begins. So all who ask while it runs share the
 * next run, which begins `gapMs` after the end of the one before at the earliest.
 */
export class Coalesced {
  readonly #work: () => Promise<void>;
  readonly #gapMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>, { gapMs }: { gapMs: number }) {
    this.#work = work;
    this.#gapMs = gapMs;
  }

  /** Ends, or fails, with a run that begins after this call. */
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
