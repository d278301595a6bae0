import { DurableObject } from "cloudflare:workers";
import { AgentReport, type AgentNotice } from "#lib/contract/index";
import { note } from "#domain/accounts/audit";
import { findAgentById } from "#storage/agents";
import { openDatabase } from "#storage/db";
import { KnownAgents } from "./known-agents.ts";

/**
 * The agents' sockets, and what is known about agents that look for work. The sockets hibernate, so that an idle one
 * costs nothing; losing one costs only latency.
 */
export class Switchboard extends DurableObject<Env> {
  readonly #known = new KnownAgents(this.ctx.storage.kv);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** The agent API passes an upgrade on to this method after it has checked the agent's token. */
  override async fetch(request: Request): Promise<Response> {
    const agentId = new URL(request.url).searchParams.get("agent") ?? "";
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours, [agentId]);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Makes all agents look for work. */
  wake(): void {
    this.#send(this.ctx.getWebSockets(), { type: "wake" });
  }

  /** Makes the agent that has a build stop it. */
  cancel(agentId: number, buildId: number): void {
    this.#send(this.ctx.getWebSockets(String(agentId)), { type: "cancel", buildId });
  }

  /** Whether an agent's row with this token was found lately. Records its call, unless the pings of its socket do. */
  recognizes(tokenHmac: string): boolean {
    const agentId = this.#known.find(tokenHmac);
    if (agentId === undefined) return false;
    const sockets = this.ctx.getWebSockets(String(agentId));
    if (sockets.every((socket) => this.ctx.getWebSocketAutoResponseTimestamp(socket) === null)) {
      this.#known.noteCall(agentId, Date.now());
    }
    return true;
  }

  /** Recognizes the token of an agent whose row was found. */
  remember(agentId: number, tokenHmac: string): void {
    this.#known.remember(agentId, tokenHmac);
  }

  /** Closes the sockets of an agent that its operator removes, and no longer recognizes its token. */
  hangUp(agentId: number): void {
    this.#known.forget(agentId);
    for (const socket of this.ctx.getWebSockets(String(agentId))) socket.close(1008, "This agent has been removed.");
  }

  /** Ids of the agents that hold a socket. */
  connected(): number[] {
    return [...new Set(this.ctx.getWebSockets().flatMap((socket) => this.ctx.getTags(socket).map(Number)))];
  }

  /**
   * When agents were alive: the last answers to their pings, and calls of those without a socket. Answering a ping wakes
   * no object.
   */
  heard(): { agentId: number; at: Date }[] {
    const pings = this.ctx.getWebSockets().flatMap((socket) => {
      const at = this.ctx.getWebSocketAutoResponseTimestamp(socket);
      return at === null ? [] : this.ctx.getTags(socket).map((tag) => ({ agentId: Number(tag), at }));
    });
    return [...pings, ...this.#known.calls];
  }

  /** Stores an agent's report with its socket, so that it is gone when the agent is. */
  override webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): void {
    const report = reportIn(text);
    if (report) socket.serializeAttachment(report);
  }

  /** The last report of each connected agent. */
  reports(): { agentId: number; report: AgentReport }[] {
    return this.ctx.getWebSockets().flatMap((socket) => {
      const report = AgentReport.safeParse(socket.deserializeAttachment());
      return report.success
        ? this.ctx.getTags(socket).map((tag) => ({ agentId: Number(tag), report: report.data }))
        : [];
    });
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    // 1005, 1006 and 1015 mean that no code was received. They may not be sent.
    if (socket.readyState === WebSocket.OPEN) socket.close([1005, 1006, 1015].includes(code) ? 1000 : code);
    await this.#noteLoss(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#noteLoss(socket);
  }

  /** Records the loss of an agent, unless it already has a new socket. */
  async #noteLoss(socket: WebSocket): Promise<void> {
    const [id = ""] = this.ctx.getTags(socket);
    // It is gone with the socket.
    const pingedAt = this.ctx.getWebSocketAutoResponseTimestamp(socket);
    if (pingedAt !== null) this.#known.noteCall(Number(id), pingedAt.getTime());
    if (this.ctx.getWebSockets(id).some((other) => other !== socket && other.readyState === WebSocket.OPEN)) return;
    const db = openDatabase(this.env.DB);
    const agent = await findAgentById(db, Number(id));
    if (agent) await note(db, { event: "agent.lost", actor: "service", detail: { agent: agent.name } });
  }

  #send(sockets: WebSocket[], notice: AgentNotice): void {
    for (const socket of sockets) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(notice));
    }
  }
}

/** Undefined if a newer agent has sent something that this Worker does not know. */
function reportIn(text: string | ArrayBuffer): AgentReport | undefined {
  try {
    return AgentReport.parse(JSON.parse(String(text)));
  } catch {
    return undefined;
  }
}
