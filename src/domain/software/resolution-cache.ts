/**
 * Caches answers of the solver in this isolate. When their total weight is too large, the least recently used ones are
 * removed.
 */
export class ResolutionCache<T extends { weight: number }> {
  readonly #maxWeight: number;
  /** In the order of use, the most recently used last. */
  readonly #answers = new Map<string, T>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): T | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    return answer;
  }

  set(key: string, answer: T): void {
    this.#forget(key);
    this.#answers.set(key, answer);
    this.#weight += answer.weight;
    for (const oldest of this.#answers.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#weight -= this.#answers.get(key)?.weight ?? 0;
    this.#answers.delete(key);
  }
}
