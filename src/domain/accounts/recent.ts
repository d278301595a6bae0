const maxEntries = 10_000;

/** Recently noted names, in this isolate's memory. New names replace the oldest. */
export class Recent {
  readonly #until = new Map<string, number>();

  note(name: string, until = Infinity): void {
    this.#until.delete(name);
    this.#until.set(name, until);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= maxEntries) break;
      this.#until.delete(oldest);
    }
  }

  has(name: string): boolean {
    return (this.#until.get(name) ?? 0) > Date.now();
  }

  forget(name: string): void {
    this.#until.delete(name);
  }
}
