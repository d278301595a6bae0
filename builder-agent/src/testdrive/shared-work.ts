import { orAborted } from "../mutex.ts";

/** A session that waits for shared work, and gets its messages. */
export interface Waiter {
  signal: AbortSignal;
  onMessage: (message: string) => void;
}

interface Work<T, W> {
  result: Promise<T>;
  waiters: Set<W>;
  stop: AbortController;
}

/** Does the work of a name once for all its waiters. Stops it when the last waiter has left. */
export class SharedWork<T extends Disposable, W extends Waiter> {
  readonly #running = new Map<string, Work<T, W>>();

  /** @param use gets the result, which is disposed of when all waiters have used it */
  async share<U>(name: string, waiter: W, begin: Begin<T, W>, use: (result: T) => Promise<U>): Promise<U> {
    waiter.signal.throwIfAborted();
    const work = this.#running.get(name) ?? this.#begin(name, begin, waiter);
    work.waiters.add(waiter);
    try {
      return await use(await orAborted(work.result, waiter.signal));
    } finally {
      work.waiters.delete(waiter);
      if (work.waiters.size === 0) this.#end(name, work);
    }
  }

  #begin(name: string, begin: Begin<T, W>, first: W): Work<T, W> {
    const stop = new AbortController();
    const waiters = new Set([first]);
    const onMessage = (message: string) => {
      for (const { onMessage } of waiters) onMessage(message);
    };
    const work = { result: begin({ signal: stop.signal, onMessage, waiters }), waiters, stop };
    this.#running.set(name, work);
    return work;
  }

  #end(name: string, work: Work<T, W>): void {
    if (this.#running.get(name) === work) this.#running.delete(name);
    work.stop.abort(new Error("No session waits for the image any more."));
    work.result.then(
      (result) => result[Symbol.dispose](),
      () => {},
    );
  }
}

/** `waiters` are the current ones. */
export type Begin<T, W> = (work: Waiter & { waiters: ReadonlySet<W> }) => Promise<T>;
