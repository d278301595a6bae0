/** The one line of its kind that an agent keeps to an object: a socket under a tag. */
export class AgentLine {
  readonly #ctx: DurableObjectState;
  readonly #tag: string;

  constructor(ctx: DurableObjectState, tag: string) {
    this.#ctx = ctx;
    this.#tag = tag;
  }

  isLine(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket)[0] === this.#tag;
  }

  /** A new line takes the place of the old. */
  accept(): Response {
    this.close("Another connection took its place.");
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours, [this.#tag]);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Whether there was a line to send it on. */
  protected send(message: object): boolean {
    const lines = this.#ctx.getWebSockets(this.#tag).filter(({ readyState }) => readyState === WebSocket.OPEN);
    for (const line of lines) line.send(JSON.stringify(message));
    return lines.length > 0;
  }

  protected close(reason: string): void {
    for (const line of this.#ctx.getWebSockets(this.#tag)) line.close(1000, reason);
  }
}
