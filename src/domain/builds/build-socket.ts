import type { Progress } from "#domain/builds/progress";

/**
 * A message from a build's object to a follower: an addition to the log or, if `base64` is empty, only the progress.
 */
export interface BuildMessage {
  from: number;
  base64: string;
  /** Bytes of the whole log. */
  length: number;
  progress: Progress;
}

/** The object closes a socket whose Worker has not pinged for some time. */
export const pingEveryMs = 60_000;

/** A socket to the object of a build. It keeps only the latest message, so that a slow client takes no memory. */
export class BuildSocket {
  readonly #socket: WebSocket;
  #message: BuildMessage | undefined;
  #arrived = Promise.withResolvers<void>();
  #isOpen = true;
  #isAnswered = true;
  #pingedAt = Date.now();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#hear(String(data)));
    socket.addEventListener("close", () => this.#end());
    socket.addEventListener("error", () => this.#end());
    socket.accept();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The next message. Undefined if none arrives within this time, or if the socket has closed. */
  async next(silenceMs: number): Promise<BuildMessage | undefined> {
    const over = new AbortController();
    const silence = scheduler.wait(silenceMs, { signal: over.signal }).then(
      () => this.#ping(),
      () => {},
    );
    await Promise.race([this.#arrived.promise, silence]);
    over.abort();
    const message = this.#message;
    this.#message = undefined;
    if (message) this.#arrived = Promise.withResolvers();
    return message;
  }

  close(): void {
    this.#end();
    this.#socket.close(1000);
  }

  #hear(data: string): void {
    this.#isAnswered = true;
    if (data === "pong") return;
    this.#message = JSON.parse(data);
    this.#arrived.resolve();
    // As long as messages keep arriving, no silence triggers a ping, so it is sent here.
    if (Date.now() - this.#pingedAt >= pingEveryMs) this.#ping();
  }

  /**
   * Sends a ping. The runtime answers it without waking the object. Without pings, a socket that is lost without a
   * close would look like a silent one.
   */
  #ping(): void {
    if (!this.#isAnswered) return this.close();
    this.#isAnswered = false;
    this.#pingedAt = Date.now();
    this.#socket.send("ping");
  }

  #end(): void {
    this.#isOpen = false;
    this.#arrived.resolve();
  }
}
