import type { Reading } from "./reading.ts";

/** Enough for two that keep files and one that only reads. Each reading of a running machine copies its overlay. */
const maxHeld = 3;
/** All readings are closed after this time without a request. */
const idleMs = 2 * 60_000;

/** The moments that a list has named and that orders may still go on with; the last used ones. */
export class Readings {
  /** The least recently used first. */
  readonly #held = new Map<string, Reading>();
  #idle: NodeJS.Timeout | undefined;

  find(id: string): Reading | undefined {
    const found = this.#held.get(id);
    if (!found) return undefined;
    this.#held.delete(id);
    this.#held.set(id, found);
    this.#restSoon();
    return found;
  }

  async hold(reading: Reading): Promise<void> {
    this.#held.set(reading.id, reading);
    this.#restSoon();
    for (const [id] of [...this.#held].slice(0, -maxHeld)) await this.#drop(id);
  }

  async dropAll(): Promise<void> {
    clearTimeout(this.#idle);
    for (const id of this.#held.keys()) await this.#drop(id);
  }

  async #drop(id: string): Promise<void> {
    const reading = this.#held.get(id);
    this.#held.delete(id);
    await reading?.[Symbol.asyncDispose]();
  }

  #restSoon(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.dropAll().catch(() => {}), idleMs).unref();
  }
}
