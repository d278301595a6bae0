import { tooFast, type Refusal } from "#domain/refusal";

/**
 * How many requests one machine answers at the same time. Each one slows down all others, by up to ten milliseconds.
 * Above this number, a request waits, unless its address has less than its share.
 */
const usual = 8;
/** The maximum, however many addresses send requests. */
const most = 400;
/** How many requests may wait, in total and per address. More could not be answered within `maxWaitMs`. */
const maxWaiting = 400;
const maxWaitingPerKey = 200;
const maxWaitMs = 2_000;
/**
 * How long a request counts. If it takes longer, it is waiting for something else, such as the rest of an upload, or
 * the runtime has dropped it.
 */
const countedMs = 500;
/**
 * How often a waiting request checks for room. The more requests wait, the less often each one checks, because a check
 * takes time, too.
 */
const lookAfterMs = (waiting: number) => 20 + waiting;
/** A waiting request checks often. If it has not checked for this long, the runtime has dropped it. */
const goneAfterMs = 1_000;

interface Answering {
  key: string;
  begunAt: number;
}

interface Waiting {
  key: string;
  lookedAt: number;
}

/**
 * Counts the requests that one isolate is answering, by sender. If there are too many, the senders with the most
 * requests have to wait.
 */
export class Crowd {
  /** The requests in the order in which they began. */
  readonly #answering = new Set<Answering>();
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  /**
   * Answers immediately, or when there is room. Refused with "too_fast" if too many requests are waiting, or if there
   * is no room in time.
   */
  async join<T>(key: string, answer: () => Promise<T>): Promise<T> {
    if (!this.#hasRoom(key)) await this.#waitForRoom(key);
    const one = { key, begunAt: performance.now() };
    this.#answering.add(one);
    this.#counts.set(key, this.#countOf(key) + 1);
    try {
      return await answer();
    } finally {
      this.#leave(one);
    }
  }

  async #waitForRoom(key: string): Promise<void> {
    this.#dropGone();
    const ofKey = [...this.#waiting].filter((other) => other.key === key).length;
    if (this.#waiting.size >= maxWaiting || ofKey >= maxWaitingPerKey) throw tooMany();
    const until = performance.now() + maxWaitMs;
    const one = { key, lookedAt: performance.now() };
    this.#waiting.add(one);
    try {
      do {
        if (performance.now() >= until) throw tooMany();
        await scheduler.wait(lookAfterMs(this.#waiting.size));
        one.lookedAt = performance.now();
      } while (!this.#hasRoom(key));
    } finally {
      this.#waiting.delete(one);
    }
  }

  #hasRoom(key: string): boolean {
    this.#dropOld();
    const { size } = this.#answering;
    if (size < usual) return true;
    const keys = this.#counts.size + (this.#counts.has(key) ? 0 : 1);
    return size < most && this.#countOf(key) < usual / keys;
  }

  #countOf = (key: string): number => this.#counts.get(key) ?? 0;

  #leave(one: Answering): void {
    if (!this.#answering.delete(one)) return;
    const left = this.#countOf(one.key) - 1;
    if (left > 0) this.#counts.set(one.key, left);
    else this.#counts.delete(one.key);
  }

  #dropOld(): void {
    const before = performance.now() - countedMs;
    for (const one of this.#answering) {
      if (one.begunAt > before) return;
      this.#leave(one);
    }
  }

  #dropGone(): void {
    const before = performance.now() - goneAfterMs;
    for (const one of this.#waiting) if (one.lookedAt < before) this.#waiting.delete(one);
  }
}

/**
 * Refuses a request, with a random delay before the next try, so that clients that are refused at the same moment do
 * not return at the same moment.
 */
function tooMany(): Refusal {
  const seconds = 2 + Math.floor(Math.random() * 4);
  return tooFast(seconds, `Too many requests at the moment. Wait ${seconds} seconds, then try again.`);
}
