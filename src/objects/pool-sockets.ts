import type { Member } from "#domain/agent-pool";
import { AgentReport, type AgentNotice } from "#lib/contract/index";

export interface PooledAgent {
  agentId: number;
  socket: WebSocket;
  member: Member;
}

/** The sockets of agents. They hibernate, and the runtime answers their pings. */
export class PoolSockets {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  of(agentId: number): WebSocket[] {
    return this.#ctx.getWebSockets(String(agentId));
  }

  all(): PooledAgent[] {
    const sockets = this.#ctx.getWebSockets();
    return sockets.map((socket) => ({ agentId: this.agentOn(socket), socket, member: memberOn(socket) }));
  }

  agentOn(socket: WebSocket): number {
    return Number(this.#ctx.getTags(socket)[0]);
  }

  /** When the socket's last ping was answered. Null if there was none. */
  pingedAt(socket: WebSocket): Date | null {
    return this.#ctx.getWebSocketAutoResponseTimestamp(socket);
  }
}

/** Facts about an agent are stored with its socket, which survives when the object is evicted from memory. */
export const memberOn = (socket: WebSocket): Member => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `setMember` writes it
  return (socket.deserializeAttachment() as Member | null) ?? {};
};

export const setMember = (socket: WebSocket, member: Member): void => socket.serializeAttachment(member);

export function sendNotice(sockets: readonly WebSocket[], notice: AgentNotice): void {
  for (const socket of sockets) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(notice));
  }
}

/** Undefined if a newer agent has sent a message that this Worker does not know. */
export function reportIn(text: string | ArrayBuffer): AgentReport | undefined {
  try {
    return AgentReport.parse(JSON.parse(String(text)));
  } catch {
    return undefined;
  }
}
