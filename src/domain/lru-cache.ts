/** Caches values in this isolate. When their total weight is too large, the least recently used ones are removed. */
export class LruCache<T extends { weight: number }> {
  readonly #maxWeight: number;
  /** In the order of use, the most recently used last. */
  readonly #values = new Map<string, T>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.#forget(key);
    this.#values.set(key, value);
    this.#weight += value.weight;
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#weight -= this.#values.get(key)?.weight ?? 0;
    this.#values.delete(key);
  }
}
