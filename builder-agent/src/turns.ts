import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work may occupy this thread before other work, such as heartbeats, gets a turn. */
const turnMs = 5;

/**
 * Divides work that never waits, or only for promises that are settled already, so that timers and I/O are not late:
 * `if (turns.isOver()) await turns.next();`
 */
export class Turns {
  #ends = 0;

  isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  /** Settles after the other work's turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#ends = performance.now() + turnMs;
  }
}
