import { DurableObject } from "cloudflare:workers";
import type { Poke } from "#contract/index";

/** The agents' sockets. They hibernate, so that an idle one costs nothing; losing one costs only latency. */
export class Switchboard extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** The agent door sends an upgrade here after it has checked the agent's token. */
  override async fetch(request: Request): Promise<Response> {
    const agentId = new URL(request.url).searchParams.get("agent") ?? "";
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours, [agentId]);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** "Pull now", to everybody. */
  poke(): void {
    this.#tell(this.ctx.getWebSockets(), { type: "poke" });
  }

  /** "Stop this build", to the agent that has it. */
  cancel(agentId: number, buildId: number): void {
    this.#tell(this.ctx.getWebSockets(String(agentId)), { type: "cancel", buildId });
  }

  /** Ids of the agents that hold a socket. */
  connected(): number[] {
    return [...new Set(this.ctx.getWebSockets().flatMap((socket) => this.ctx.getTags(socket).map(Number)))];
  }

  /** When each agent's ping was last answered, which wakes no object: the agent was alive then. */
  heard(): { agentId: number; at: Date }[] {
    return this.ctx.getWebSockets().flatMap((socket) => {
      const at = this.ctx.getWebSocketAutoResponseTimestamp(socket);
      return at === null ? [] : this.ctx.getTags(socket).map((tag) => ({ agentId: Number(tag), at }));
    });
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    // 1005, 1006 and 1015 say that no code came over the wire; they may not be sent.
    if (socket.readyState === WebSocket.OPEN) socket.close([1005, 1006, 1015].includes(code) ? 1000 : code);
  }

  #tell(sockets: WebSocket[], word: Poke): void {
    for (const socket of sockets) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(word));
    }
  }
}
