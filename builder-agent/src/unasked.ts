/** The average pause. Without a socket, and with the pause before a pull, work is found within 90 s. */
const everyMs = { connected: 60 * 60_000, alone: 50_000 };

/**
 * Decides when to claim without a message or a notice: both may be lost, and another agent may have taken the message
 * of work that it cannot do.
 */
export class Unasked {
  #last = Date.now();
  /** Prevents all agents from claiming at the same time. */
  #jitter = newJitter();
  /** The kinds of work whose last claim got no answer, although it may have succeeded. */
  readonly unanswered = new Set<string>();

  isDue(isConnected: boolean): boolean {
    const pauseMs = isConnected ? everyMs.connected : everyMs.alone;
    if (Date.now() < this.#last + this.#jitter * pauseMs) return false;
    this.#last = Date.now();
    this.#jitter = newJitter();
    return true;
  }
}

const newJitter = (): number => 0.5 + Math.random();
