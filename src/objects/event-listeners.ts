import { heartbeatEveryMs } from "#domain/events/stream";
import type { StoredEvent } from "./event-log.ts";

export const maxListeners = 10;
/** How many missed events go into one message, which then stays far below the runtime's limit of 1 MiB. */
const missedAtOnce = 50;

/**
 * The open streams of an account's events: each is a socket whose other side is a request in the Worker. They
 * hibernate, so an idle listener costs nothing.
 */
export class EventListeners {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  get count(): number {
    return this.#open.length;
  }

  /** Whether there is room for one more listener. Closes those whose Worker has disappeared without a close. */
  hasRoom(now: number): boolean {
    if (this.count < maxListeners) return true;
    for (const socket of this.#open.filter((each) => this.#heardAt(each) + 2 * heartbeatEveryMs < now)) close(socket);
    return this.count < maxListeners;
  }

  /** Opens a socket that sends the missed events first, and then all new ones. */
  accept(missed: readonly StoredEvent[], now: number): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours);
    ours.serializeAttachment({ openedAt: now } satisfies Attachment);
    ours.send("retry: 3000\n\n");
    for (let first = 0; first < missed.length; first += missedAtOnce) {
      ours.send(
        missed
          .slice(first, first + missedAtOnce)
          .map(frameOf)
          .join(""),
      );
    }
    return new Response(null, { status: 101, webSocket: theirs });
  }

  send(event: StoredEvent): void {
    for (const socket of this.#open) socket.send(frameOf(event));
  }

  /** Ends all streams. */
  hangUp(): void {
    for (const socket of this.#open) close(socket);
  }

  get #open(): WebSocket[] {
    return this.#ctx.getWebSockets().filter(({ readyState }) => readyState === WebSocket.OPEN);
  }

  #heardAt(socket: WebSocket): number {
    const { openedAt }: Attachment = socket.deserializeAttachment();
    return Math.max(openedAt, this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0);
  }
}

interface Attachment {
  openedAt: number;
}

const close = (socket: WebSocket) => socket.close(1000);

const frameOf = ({ id, event, text }: StoredEvent): string => `id: ${id}\nevent: ${event}\ndata: ${text}\n\n`;
