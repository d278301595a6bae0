import { tooFast } from "#domain/refusal";

/**
 * Requests that one machine answers at the same time. Each waits for all others, and a hundred pages take two seconds. Below that,
 * nobody is refused.
 */
const usual = 100;
/** However many addresses or accounts ask. */
const most = 400;
/** A request that takes longer waits for something else, such as the rest of an upload, or the runtime has dropped it. */
const countedMs = 5_000;

interface Answering {
  key: string;
  begunAt: number;
}

/** The requests of one isolate that are being answered, by who sent them. With too many, those of whoever has most are refused. */
export class Crowd {
  /** In the order in which they began. */
  readonly #answering = new Set<Answering>();
  readonly #counts = new Map<string, number>();

  /** Refused with "too_fast" if too many are being answered, and the key has its share of them. */
  async join<T>(key: string, answer: () => Promise<T>): Promise<T> {
    this.#dropOld();
    if (!this.#hasRoom(key)) throw tooFast(2, "Too many requests at the moment. Wait two seconds, then try again.");
    const one = { key, begunAt: performance.now() };
    this.#answering.add(one);
    this.#counts.set(key, this.#countOf(key) + 1);
    try {
      return await answer();
    } finally {
      this.#leave(one);
    }
  }

  #hasRoom(key: string): boolean {
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
}
