/** Runs one piece of work at a time, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** A lock per name. Holders get it in the order of their calls. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>();

  /** Returns a function that releases the lock. Calling it again does nothing. */
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

/** Waits for the result. Throws the signal's reason if it is aborted first. */
export async function orAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([result, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
