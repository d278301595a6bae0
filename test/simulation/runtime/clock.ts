import { AsyncLocalStorage } from "node:async_hooks";

interface Event {
  at: number;
  /** Events of the same time run in the order in which they were scheduled. */
  nth: number;
  run: () => void;
  isCancelled: boolean;
}

/** The start time of every simulation. */
export const beginning = Date.UTC(2030, 0, 1);

const realImmediate = setImmediate;

/** Virtual time. It stands still while code runs, and jumps to the next event when nothing runs. */
class Clock {
  now = beginning;
  #events: Event[] = [];
  #scheduled = 0;
  #atOnce = 0;
  /** Calls that run on real threads. Time stands still until they have ended. */
  #outside = 0;

  /** Runs `work` after a time, in the caller's async context. Returns a function that cancels it. */
  after(ms: number, work: () => void): () => void {
    const inContext = AsyncLocalStorage.snapshot();
    const event = this.#schedule(ms, () => inContext(work));
    return () => {
      event.isCancelled = true;
    };
  }

  /** This needs no context, because the promise restores the context of its waiter. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#schedule(ms, resolve));
  }

  /** Stops time until a real thread has answered. */
  async still<T>(answer: Promise<T>): Promise<T> {
    this.#outside += 1;
    try {
      return await answer;
    } finally {
      this.#outside -= 1;
    }
  }

  /** Runs the next event and everything that follows from it. Returns false if there is none before `until`. */
  async step(until: number): Promise<boolean> {
    let next = this.#pop();
    while (next?.isCancelled) next = this.#pop();
    if (!next || next.at > until) {
      if (next) this.#push(next);
      this.now = Math.max(this.now, until);
      return false;
    }
    this.#atOnce = next.at > this.now ? 0 : this.#atOnce + 1;
    this.now = Math.max(this.now, next.at);
    next.run();
    await this.settle();
    return true;
  }

  /** Resolves when there is nothing left to do at this time. */
  async settle(): Promise<void> {
    do await turn();
    while (this.#outside > 0);
  }

  /** The number of events that have run since time last moved. */
  get atOnce(): number {
    return this.#atOnce;
  }

  /** Removes all events before another simulation begins. */
  reset(): void {
    this.#events = [];
    this.#scheduled = 0;
    this.now = beginning;
  }

  #schedule(ms: number, run: () => void): Event {
    const at = Math.ceil(this.now + Math.max(0, ms));
    const event = { at, nth: (this.#scheduled += 1), run, isCancelled: false };
    this.#push(event);
    return event;
  }

  #push(event: Event): void {
    const heap = this.#events;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#events;
    const first = heap[0];
    const last = heap.pop();
    if (!last || last === first) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left && right && isBefore(right, left)) child += 1;
      const smaller = heap[child];
      if (!smaller || !isBefore(smaller, last)) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (one: Event, other: Event | undefined): boolean =>
  other !== undefined && (one.at === other.at ? one.nth < other.nth : one.at < other.at);

/** Resolves when all promises have run. */
const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

export const clock = new Clock();
