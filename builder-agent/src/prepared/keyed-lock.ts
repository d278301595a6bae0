import { orAborted } from "../or-aborted.ts";

/** A lock per name. Holders get it in the order of their calls. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>();

  /** → releases the lock; calling it again does nothing. */
  async acquire(name: string, signal: AbortSignal): Promise<() => void> {
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
