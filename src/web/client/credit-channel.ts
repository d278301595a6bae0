import { CreditCount, creditProtocol } from "./credit.ts";

/**
 * A WebSocket in the form of a noVNC channel, which also reports to the agent how many bytes were consumed. The relay
 * in between buffers nothing, so a slow page slows the stream down and does not fill the memory.
 */
export class CreditChannel {
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent<ArrayBuffer>) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  readonly #socket: WebSocket;
  readonly #count = new CreditCount();

  constructor(url: URL) {
    this.#socket = new WebSocket(url, [creditProtocol]);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", (event) => this.onopen?.(event));
    this.#socket.addEventListener("close", (event) => this.onclose?.(event));
    this.#socket.addEventListener("error", (event) => this.onerror?.(event));
    this.#socket.addEventListener("message", (event: MessageEvent<ArrayBuffer>) => this.#take(event));
  }

  get binaryType(): "arraybuffer" | "blob" {
    return this.#socket.binaryType;
  }

  set binaryType(type: "arraybuffer" | "blob") {
    this.#socket.binaryType = type;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  /** When its listener returns, noVNC has processed or copied the bytes. */
  #take(event: MessageEvent<ArrayBuffer>): void {
    this.onmessage?.(event);
    const credit = this.#count.take(event.data.byteLength);
    if (credit > 0 && this.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ credit }));
  }
}
