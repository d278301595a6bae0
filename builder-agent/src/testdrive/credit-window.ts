import { creditWindowBytes } from "../contract.ts";

/**
 * The number of bytes that may be sent to a viewer (src/lib/contract/testdrive.ts). A `plain-…` viewer has no window
 * before its first credit. RFB limits it anyway, because an update is sent only on request.
 */
export class CreditWindow {
  #unconfirmed = 0;
  #isCredited: boolean;
  readonly #windowBytes: number;

  constructor(viewer: string, windowBytes = creditWindowBytes) {
    this.#isCredited = !viewer.startsWith("plain-");
    this.#windowBytes = windowBytes;
  }

  /** Bytes that may be sent now. */
  get room(): number {
    return this.#isCredited ? this.#windowBytes - this.#unconfirmed : Number.POSITIVE_INFINITY;
  }

  sent(bytes: number): void {
    this.#unconfirmed += bytes;
  }

  /** The page has consumed that many bytes. It cannot have consumed more than were sent. */
  credit(bytes: number): void {
    this.#isCredited = true;
    this.#unconfirmed = Math.max(0, this.#unconfirmed - bytes);
  }
}
