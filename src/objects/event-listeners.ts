import type { StoredEvent } from "./event-log.ts";

export const maxListeners = 10;
export const heartbeatEveryMs = 15_000;
/** So that a renewed key cannot be used to listen forever; the client connects again on its own. */
export const listensForMs = 60 * 60_000;
/** A listener that is this many events behind is disconnected: it connects again and requests what it has missed. */
const maxUnread = 200;

interface Listener {
  controller: ReadableStreamDefaultController<Uint8Array>;
  endsAt: number;
}

/** The open streams of an account's events (text/event-stream). They are in memory only: a client that loses one connects again. */
export class EventListeners {
  readonly #open = new Set<Listener>();
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  get isFull(): boolean {
    return this.#open.size >= maxListeners;
  }

  get count(): number {
    return this.#open.size;
  }

  /** A stream of what the client has missed and of all that comes until then. */
  listen(missed: readonly StoredEvent[], until: number): ReadableStream<Uint8Array> {
    let listener: Listener | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          listener = { controller, endsAt: Math.min(until, Date.now() + listensForMs) };
          this.#open.add(listener);
          controller.enqueue(encode(`retry: 3000\n\n${missed.map(frameOf).join("")}`));
          this.#heartbeat ??= setInterval(() => this.#send(": still here\n\n"), heartbeatEveryMs);
        },
        cancel: () => {
          if (listener) this.#drop(listener);
        },
      },
      { highWaterMark: maxUnread },
    );
  }

  tell(event: StoredEvent): void {
    this.#send(frameOf(event));
  }

  /** Ends all streams. */
  hangUp(): void {
    for (const listener of this.#open) this.#close(listener);
  }

  #send(text: string): void {
    const bytes = encode(text);
    for (const listener of this.#open) {
      const isOver = Date.now() >= listener.endsAt || (listener.controller.desiredSize ?? 0) <= 0;
      if (isOver) this.#close(listener);
      else listener.controller.enqueue(bytes);
    }
  }

  #close(listener: Listener): void {
    this.#drop(listener);
    listener.controller.close();
  }

  #drop(listener: Listener): void {
    this.#open.delete(listener);
    if (this.#open.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

const encode = (text: string) => new TextEncoder().encode(text);

const frameOf = ({ id, event, text }: StoredEvent): string => `id: ${id}\nevent: ${event}\ndata: ${text}\n\n`;
