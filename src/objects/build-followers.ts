import { pingEveryMs, type BuildMessage } from "#domain/builds/build-socket";
import type { Followed } from "#domain/builds/following";
import { progressOf } from "#domain/builds/progress";
import type { BuildState } from "#domain/builds/machine";
import type { BuildLog } from "./build-log.ts";

/** Makes calls wait until something changes, up to a time limit. */
class News {
  #next = Promise.withResolvers<void>();
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  notify(): void {
    this.#revision += 1;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Returns immediately if there is news since that revision, or if the caller has seen none. */
  async wait(seen: number | undefined, waitMs: number): Promise<void> {
    if (seen !== this.#revision || waitMs <= 0) return;
    await Promise.race([this.#next.promise, scheduler.wait(waitMs)]);
  }
}

type Log = Pick<BuildLog, "length" | "read">;

/** The maximum number of followers with a socket. Others poll with calls, which cost more. */
const maxSockets = 100;
/** A socket without a ping for this long is lost. One ping may be late. */
const lostAfterMs = 2.5 * pingEveryMs;

/**
 * The clients that follow a build. Each has a socket, or waits in a call. The other side of a socket is a request in
 * the Worker. The socket hibernates, so the object is not billed while clients wait.
 */
export class BuildFollowers {
  /** Notified when the state has changed. */
  readonly news = new News();
  /** Notified when the state has changed or the log has grown. */
  readonly logNews = new News();
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** Opens a socket for the changes from now on. */
  accept(what: Followed): Response {
    if (this.#open().length >= maxSockets) return new Response(null, { status: 503 });
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours, [what]);
    ours.serializeAttachment({ openedAt: Date.now() } satisfies Attachment);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Whether any follower has a socket for the log. */
  get readLog(): boolean {
    return this.#open("log").length > 0;
  }

  sendState(state: BuildState, log: Log): void {
    this.news.notify();
    this.logNews.notify();
    const sockets = this.#open();
    if (sockets.length > 0) send(sockets, state, { from: log.length, base64: "", length: log.length });
  }

  /** Sends what was added to the log since `from`. */
  async sendLog(state: BuildState, log: Log, from: number): Promise<void> {
    this.logNews.notify();
    const sockets = this.#open("log");
    if (sockets.length === 0) return;
    const { length } = log;
    const bytes = await log.read(from, length - from);
    send(sockets, state, { from, base64: Buffer.from(bytes).toString("base64"), length });
  }

  hangUp(): void {
    for (const socket of this.#open()) socket.close(1000);
  }

  /** The open sockets. Closes those whose Worker has disappeared without a close. */
  #open(what?: Followed): WebSocket[] {
    const open = this.#ctx.getWebSockets(what).filter(({ readyState }) => readyState === WebSocket.OPEN);
    const since = Date.now() - lostAfterMs;
    const lost = new Set(open.filter((socket) => this.#heardAt(socket) < since));
    for (const socket of lost) socket.close(1001);
    return open.filter((socket) => !lost.has(socket));
  }

  #heardAt(socket: WebSocket): number {
    const { openedAt }: Attachment = socket.deserializeAttachment();
    return Math.max(openedAt, this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0);
  }
}

interface Attachment {
  openedAt: number;
}

function send(sockets: readonly WebSocket[], state: BuildState, addition: Omit<BuildMessage, "progress">): void {
  const message = JSON.stringify({ ...addition, progress: progressOf(state, Date.now()) } satisfies BuildMessage);
  for (const socket of sockets) socket.send(message);
}
