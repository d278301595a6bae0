import { DurableObject } from "cloudflare:workers";
import type { Incarnation, Seed, TestdriveClaim, TestdriveClaimRequest } from "#lib/contract/index";
import type { Claimant } from "#domain/claimant";
import { nextAgentAfterMs, sendJob, wakeAgent } from "#domain/jobs";
import { nextWakeUp } from "#domain/testdrives/machine";
import type { TestdriveFacts, TestdriveLook } from "#domain/testdrives/testdrive";
import { logFailure } from "#log/log";
import type { RowState } from "./testdrive-record.ts";
import { TestdriveSession } from "./testdrive-session.ts";
import { TestdriveSockets } from "./testdrive-sockets.ts";

/** One testdrive, named by its row's uid. Refusals are values, since RPC loses their class. */
export class Testdrive extends DurableObject<Env> {
  readonly #session = new TestdriveSession(this.ctx, this.env, (reason) => this.#sockets.hangUp(reason));
  readonly #sockets = new TestdriveSockets(this.ctx, this.env, this.#session);

  /**
   * Wakes agents up and waits until one claims the session, or for 10 seconds. Only the agent `agentId` can claim it;
   * by default, any agent.
   */
  async start(
    facts: TestdriveFacts,
    seed?: Seed,
    agentId?: number,
  ): Promise<{ claimed: TestdriveLook } | { refused: "unclaimed" }> {
    if (!this.#session.facts) {
      await this.#session.begin(facts, { seed, agentId });
      this.ctx.waitUntil(this.#callAgents(facts.testdriveId));
    }
    await this.#session.decision();
    const state = await this.#session.advance({ type: "woke_up" });
    if (state?.status === "waiting") await this.#session.advance({ type: "woke_up", at: state.claimBy });
    const look = this.look();
    return look && look.state.status !== "ended" ? { claimed: look } : { refused: "unclaimed" };
  }

  /** Begins a session that no one waits for. An agent must claim it within 10 seconds. */
  async prepare(facts: TestdriveFacts): Promise<void> {
    if (!this.#session.facts) await this.#session.begin(facts);
  }

  async claim(
    by: Claimant,
    agent: Pick<TestdriveClaimRequest, "vnc" | "machines">,
  ): Promise<{ claimed: TestdriveClaim } | { refused: "taken" }> {
    return await this.#session.claim(by, agent);
  }

  look(): TestdriveLook | undefined {
    return this.#session.look;
  }

  /** The build whose image this session's agent may read, while the session lasts. */
  async heldBuild(agentId: number, token: string): Promise<{ buildId: number } | { refused: "late" }> {
    const state = await this.#session.advance({ type: "woke_up" });
    const isLive = state?.status === "preparing" || state?.status === "running";
    return isLive ? this.bootedBuild(agentId, token) : { refused: "late" };
  }

  /** The build of this agent's session, even an ended one, because the agent may boot the image once more. */
  bootedBuild(agentId: number, token: string): { buildId: number } | { refused: "late" } {
    const buildId = this.#session.facts?.buildId;
    return buildId !== undefined && this.#session.isAttempt(agentId, token) ? { buildId } : { refused: "late" };
  }

  async stop(): Promise<TestdriveLook | undefined> {
    await this.#session.advance({ type: "stopped" });
    return this.look();
  }

  /** Ends the session if an earlier process of this agent had it, because the agent has restarted. */
  async endOfAgent(agentId: number, incarnation?: Incarnation): Promise<void> {
    if (!this.#session.isHeldByEarlier(agentId, incarnation)) return;
    await this.#session.advance({ type: "agent_stopped", reason: agentRestarted });
  }

  async agentRemoved(agentId: number): Promise<void> {
    if (!this.#session.isHeldBy(agentId)) return;
    await this.#session.advance({ type: "agent_stopped", reason: agentRemoved });
  }

  /** Applies the passage of time and writes the row, even after a restore. False if this object has no session. */
  async wake(rowState: RowState): Promise<boolean> {
    this.#session.rowIs(rowState);
    return (await this.#session.advance({ type: "woke_up" })) !== undefined;
  }

  override async alarm(): Promise<void> {
    const state = this.look()?.state;
    const isForgotten = state?.status === "ended" && Date.now() >= nextWakeUp(state);
    if (isForgotten) return await this.ctx.storage.deleteAll();
    // The viewers are counted again, because a deploy closes sockets without an event.
    await this.#sockets.countViewers();
    await this.#session.setAlarm(); // the alarm may have fired too early
  }

  override async fetch(request: Request): Promise<Response> {
    return await this.#sockets.serve(request);
  }

  override async webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    await this.#sockets.receive(socket, frame);
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    await this.#sockets.part(socket, code, reason);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#sockets.part(socket, 1006, "");
  }

  /** Wakes one free agent, and the next one if that does not claim the session. An agent that misses it polls the queue. */
  async #callAgents(testdriveId: number): Promise<void> {
    const { requestId, arch } = this.#session.facts ?? {};
    await sendJob(this.env, { kind: "testdrive", testdriveId, ...(requestId !== undefined && { requestId }) }).catch(
      (error: unknown) => logFailure("could not call the agents for a testdrive", error, { testdriveId, requestId }),
    );
    const { agentId } = this.#session;
    let isAgain = false;
    while (this.#session.isWaiting && (await wakeAgent(this.env, { kind: "testdrive", arch, agentId, isAgain }))) {
      isAgain = true;
      await this.#session.decision(nextAgentAfterMs);
    }
  }
}

const agentRestarted = "The builder agent that ran it has restarted.";
const agentRemoved = "The builder agent that ran it has been removed.";
