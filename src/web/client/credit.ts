// Name and size are the contract's; importing it would bring zod into the page. A test compares them.
export const creditProtocol = "kiln.credit";
// A quarter of the agent's window: it never runs dry while a credit is under way.
const creditEveryBytes = 256 * 1024;

/** Counts what was taken in, and says when to tell the agent. */
export class CreditCount {
  #bytes = 0;

  /** → the credit to give now, or 0. */
  take(bytes: number): number {
    this.#bytes += bytes;
    if (this.#bytes < creditEveryBytes) return 0;
    const credit = this.#bytes;
    this.#bytes = 0;
    return credit;
  }
}
