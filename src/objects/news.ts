/** Makes calls wait until something changes, up to a time limit. */
export class News {
  #next = Promise.withResolvers<void>();
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  notify(): void {
    this.#revision += 1;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Returns immediately if there is news since that revision, or if the caller has seen none. */
  async wait(seen: number | undefined, waitMs: number): Promise<void> {
    if (seen !== this.#revision || waitMs <= 0) return;
    await Promise.race([this.#next.promise, scheduler.wait(waitMs)]);
  }
}
