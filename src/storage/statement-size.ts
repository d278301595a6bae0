/**
 * How long one of many similar statements should take. A database runs one at a time, and in embedded mode nothing else
 * runs meanwhile. Shorter statements would take longer in total, and D1 allows a thousand for each message of a queue.
 */
const usualMs = 12;
/** A single slow statement, such as one that merges pages of a full-text index, must not make the next ones tiny. */
const leastFactor = 0.5;
const mostFactor = 2;

/** The size of the next statement, learned from the duration of the last ones. */
export class StatementSize {
  readonly #least: number;
  readonly #most: number;
  readonly #targetMs: number;
  #size: number;

  constructor(of: { first: number; least: number; most: number; targetMs?: number }) {
    this.#least = of.least;
    this.#most = of.most;
    this.#targetMs = of.targetMs ?? usualMs;
    this.#size = of.first;
  }

  /** The number of rows, or of bytes of rows. */
  get size(): number {
    return this.#size;
  }

  /** @param ms how long the database took, in milliseconds */
  learn(done: number, ms: number): void {
    const fitting = (done * this.#targetMs) / Math.max(ms, 1);
    const next = Math.min(Math.max(fitting, this.#size * leastFactor), this.#size * mostFactor);
    this.#size = Math.round(Math.min(Math.max(next, this.#least), this.#most));
  }
}
