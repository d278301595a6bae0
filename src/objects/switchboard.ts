import { DurableObject } from "cloudflare:workers";
import { redialHeader, type AgentReport } from "#lib/contract/index";
import { note } from "#domain/accounts/audit";
import { type WaitingWork, afterReport, afterWaking, chooseFree, isSilent, redialSeconds } from "#domain/agent-pool";
import { forgottenAfterMs, type AbleAgent } from "#domain/builds/agents-seen";
import { findAgentById } from "#storage/agents";
import { openDatabase } from "#storage/db";
import { KnownAbilities } from "./known-abilities.ts";
import { KnownAgents } from "./known-agents.ts";
import { memberOn, PoolSockets, reportIn, sendNotice, setMember } from "./pool-sockets.ts";

/**
 * The pool of agents: their sockets, what each can do, and which are free. An idle agent costs nothing, because its
 * socket hibernates; losing one costs only latency.
 */
export class Switchboard extends DurableObject<Env> {
  readonly #sockets = new PoolSockets(this.ctx);
  readonly #known = new KnownAgents(this.ctx.storage.kv);
  readonly #abilities = new KnownAbilities(this.ctx.storage.kv);
  /** The approximate number of sockets, counted when the first one opens after the object was evicted. */
  #size: number | undefined;

  /** The agent API passes an upgrade on to this method after it has checked the agent's token. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams: given } = new URL(request.url);
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours, [given.get("agent") ?? ""]);
    if (given.has("drained")) setMember(ours, { isDrained: true });
    this.#size = this.#size === undefined ? this.ctx.getWebSockets().length : this.#size + 1;
    const headers = { [redialHeader]: String(redialSeconds(this.#size)) };
    return new Response(null, { status: 101, webSocket: theirs, headers });
  }

  /**
   * Wakes one free agent that can do the work and, the first time, also all agents that do not report what they can do.
   * Returns whether there was such a free agent. Without work, it wakes all agents, for callers from before pools.
   */
  wake(work?: WaitingWork): boolean {
    const canBe = (agentId: number) => work?.agentId === undefined || agentId === work.agentId;
    const all = this.#sockets.all();
    const agents = all.filter(({ agentId, socket }) => socket.readyState === WebSocket.OPEN && canBe(agentId));
    const silent = agents.filter(({ member }) => !work || (!work.isAgain && isSilent(member)));
    for (const { socket } of silent) sendNotice([socket], { type: "wake" });
    if (!work) return false;
    const at = Date.now();
    const chosen = chooseFree(agents, { work, at, can: (key) => this.#abilities.find(key) });
    if (!chosen) return false;
    setMember(chosen.socket, afterWaking(chosen.member, work.kind, at));
    sendNotice([chosen.socket], { type: "wake", kind: work.kind });
    return true;
  }

  /** Stops giving work to an agent, or starts again. */
  setDrained(agentId: number, isDrained: boolean): void {
    for (const socket of this.#sockets.of(agentId)) {
      setMember(socket, { ...memberOn(socket), isDrained });
      if (!isDrained) sendNotice([socket], { type: "wake" });
    }
  }

  /** Makes the agent that has a build stop it. */
  cancel(agentId: number, buildId: number): void {
    sendNotice(this.#sockets.of(agentId), { type: "cancel", buildId });
  }

  /**
   * Whether an agent's row with this token was found recently. Records the agent's call, unless the pings of its socket
   * do.
   */
  recognizes(tokenHmac: string): boolean {
    const agentId = this.#known.find(tokenHmac);
    if (agentId === undefined) return false;
    const sockets = this.#sockets.of(agentId);
    if (sockets.every((socket) => this.#sockets.pingedAt(socket) === null)) {
      this.#known.noteCall(agentId, Date.now());
    }
    return true;
  }

  /** Remembers the token of an agent whose row was found. */
  remember(agentId: number, tokenHmac: string): void {
    this.#known.remember(agentId, tokenHmac);
  }

  /** Closes the sockets of an agent that its operator removes, and no longer recognizes its token. */
  hangUp(agentId: number): void {
    this.#known.forget(agentId);
    for (const socket of this.#sockets.of(agentId)) socket.close(1008, "This agent has been removed.");
  }

  /** Ids of the agents that hold a socket. */
  connected(): number[] {
    return [...new Set(this.#sockets.all().map(({ agentId }) => agentId))];
  }

  /**
   * When agents were alive: the last answers to their pings, and calls of those without a socket. Answering a ping wakes
   * no object.
   */
  heard(): { agentId: number; at: Date }[] {
    const pings = this.#sockets.all().flatMap(({ agentId, socket }) => {
      const at = this.#sockets.pingedAt(socket);
      return at === null ? [] : [{ agentId, at }];
    });
    return [...pings, ...this.#known.calls];
  }

  /** Stores an agent's report with its socket, so that it disappears with the agent. */
  override webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): void {
    const sent = reportIn(text);
    if (!sent) return;
    const { can, ...report } = sent;
    const inUse = () => this.#sockets.all().flatMap(({ member }) => member.abilities ?? []);
    setMember(socket, afterReport(memberOn(socket), report, can && this.#abilities.note(can, inUse)));
  }

  /** The last report of each connected agent. */
  reports(): { agentId: number; report: Omit<AgentReport, "can"> }[] {
    return this.#sockets.all().flatMap(({ agentId, member: { report } }) => (report ? [{ agentId, report }] : []));
  }

  /**
   * The different abilities of connected agents, and the ids of live agents that have not reported theirs: at most
   * `most` of these. Leaves out the agent `except`.
   */
  abilities(most: number, except?: number): { known: AbleAgent[]; unknown: number[] } {
    const agents = this.#sockets.all().filter(({ agentId }) => agentId !== except);
    const { known, unknown } = this.#abilities.different(agents);
    const callers = this.#known.calledSince(Date.now() - forgottenAfterMs).filter((agentId) => agentId !== except);
    return { known, unknown: [...new Set([...callers, ...unknown])].slice(0, most) };
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#noteLoss(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#noteLoss(socket);
  }

  /** Records the loss of an agent, unless it already has a new socket. */
  async #noteLoss(socket: WebSocket): Promise<void> {
    const agentId = this.#sockets.agentOn(socket);
    if (this.#size !== undefined) this.#size -= 1;
    // The attachment is gone with the socket.
    const pingedAt = this.#sockets.pingedAt(socket);
    if (pingedAt !== null) this.#known.noteCall(agentId, pingedAt.getTime());
    if (this.#sockets.of(agentId).some((other) => other !== socket && other.readyState === WebSocket.OPEN)) return;
    const db = openDatabase(this.env);
    const agent = await findAgentById(db, agentId);
    if (agent) await note(db, { event: "agent.lost", actor: "service", detail: { agent: agent.name } });
  }
}
