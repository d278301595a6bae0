// The same name and size as in the contract. Importing the contract would bring zod into the page. A test compares
// them.
export const creditProtocol = "kiln.credit";
// A quarter of the agent's window, so that the agent can continue sending while a credit is in transit.
const creditEveryBytes = 256 * 1024;

/** Counts the consumed bytes, and decides when to report them to the agent. */
export class CreditCount {
  #bytes = 0;

  /** Returns the credit to send now, or 0. */
  take(bytes: number): number {
    this.#bytes += bytes;
    if (this.#bytes < creditEveryBytes) return 0;
    const credit = this.#bytes;
    this.#bytes = 0;
    return credit;
  }
}
