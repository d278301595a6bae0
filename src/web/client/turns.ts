/** A search or a link is read, a form is sent, and a refresh is read if nothing else is under way. */
type Kind = "read" | "refresh" | "send";

/**
 * Orders the requests of a page. A newer request aborts one that only reads. It waits for a form that is being sent,
 * because an aborted form could lose its change, and would lose its result.
 */
export class Turns {
  #reading: AbortController | undefined;
  #sending: Promise<boolean> | undefined;

  /** Returns false if a newer request took over, if a refresh would disturb, or if the form before it failed. */
  async take(kind: Kind, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    if (kind === "refresh" && (this.#reading || this.#sending)) return false;
    this.#reading?.abort();
    const own = new AbortController();
    const done = this.#after(this.#sending, own.signal, work);
    if (kind === "send") await this.#send(done);
    else await this.#read(done, own);
    return await done;
  }

  async #after(
    before: Promise<boolean> | undefined,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    // After a failure, the browser submits the form itself, and leaves this page.
    if (before && !(await before)) return false;
    if (signal.aborted) return false;
    try {
      await work(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) throw error;
      return false;
    }
  }

  async #send(done: Promise<boolean>): Promise<void> {
    this.#reading = undefined;
    const settled = done.catch(() => false);
    this.#sending = settled;
    await settled;
    if (this.#sending === settled) this.#sending = undefined;
  }

  async #read(done: Promise<boolean>, own: AbortController): Promise<void> {
    this.#reading = own;
    await done.catch(() => false);
    if (this.#reading === own) this.#reading = undefined;
  }
}
