import { creditWindowBytes } from "../contract.ts";

/**
 * How much may go to a viewer now (src/contract/testdrive.ts). A `plain-…` viewer has no window until it sends a first
 * credit: RFB bounds it itself, by sending an update only when asked for one.
 */
export class CreditWindow {
  #underWay = 0;
  #isCredited: boolean;
  readonly #windowBytes: number;

  constructor(viewer: string, windowBytes = creditWindowBytes) {
    this.#isCredited = !viewer.startsWith("plain-");
    this.#windowBytes = windowBytes;
  }

  /** Bytes that may be sent now. */
  get room(): number {
    return this.#isCredited ? this.#windowBytes - this.#underWay : Number.POSITIVE_INFINITY;
  }

  sent(bytes: number): void {
    this.#underWay += bytes;
  }

  /** The page says that it has consumed so much; it cannot have consumed more than was sent. */
  credit(bytes: number): void {
    this.#isCredited = true;
    this.#underWay = Math.max(0, this.#underWay - bytes);
  }
}
