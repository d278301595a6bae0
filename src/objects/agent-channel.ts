import { TestdriveReport, type TestdriveOrder } from "#lib/contract/index";

/** A channel from an object to its agent: a WebSocket with a tag. An object has at most one such socket per tag. */
export class AgentChannel {
  readonly #ctx: DurableObjectState;
  readonly #tag: string;

  constructor(ctx: DurableObjectState, tag: string) {
    this.#ctx = ctx;
    this.#tag = tag;
  }

  owns(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket)[0] === this.#tag;
  }

  /** Accepts a new channel, which replaces the old one. */
  accept(): Response {
    this.close("Another connection has replaced it.");
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours, [this.#tag]);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Sends a message. False if no channel is open. */
  protected send(message: object): boolean {
    const open = this.#ctx.getWebSockets(this.#tag).filter(({ readyState }) => readyState === WebSocket.OPEN);
    for (const socket of open) socket.send(JSON.stringify(message));
    return open.length > 0;
  }

  protected close(reason: string): void {
    for (const socket of this.#ctx.getWebSockets(this.#tag)) socket.close(1000, reason);
  }
}

/** The channel to the agent that runs a testdrive. It sends orders and receives reports. */
export class ControlChannel extends AgentChannel {
  constructor(ctx: DurableObjectState) {
    super(ctx, "control");
  }

  /** Sends an order. False if no agent is connected. */
  order(order: TestdriveOrder): boolean {
    return this.send(order);
  }

  hangUp(reason: string): void {
    this.order({ type: "stop", reason });
    this.close("The testdrive has ended.");
  }
}

export function reportIn(frame: string | ArrayBuffer): TestdriveReport | undefined {
  try {
    return TestdriveReport.parse(typeof frame === "string" ? JSON.parse(frame) : undefined);
  } catch {
    return undefined;
  }
}
