import { orAborted } from "../or-aborted.ts";

/** One at a time for each name; who comes later waits for all that came before. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for its turn. → what ends it; calling it again does nothing. */
  async take(name: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine = before.then(() => promise);
    this.#last.set(name, mine);
    void mine.then(() => this.#last.get(name) === mine && this.#last.delete(name));
    try {
      await orAborted(before, signal);
    } catch (error) {
      resolve();
      throw error;
    }
    return resolve;
  }
}
