import { DurableObject } from "cloudflare:workers";
import { attemptHeader, type Incarnation, type TestdriveClaim, type TestdriveReport } from "#lib/contract/index";
import { newAttemptToken } from "#domain/attempt-token";
import { isSameClaim, type Claimant } from "#domain/claimant";
import { hasReplaced } from "#domain/incarnation";
import { sendJob } from "#domain/jobs";
import { newPassword, sameSecret } from "#domain/secrets";
import {
  advance,
  claimWithinMs,
  nextWakeUp,
  startWaiting,
  type TestdriveEvent,
  type TestdriveState,
} from "#domain/testdrives/machine";
import type { TestdriveFacts, TestdriveLook, VncAddress } from "#domain/testdrives/testdrive";
import { logFailure } from "#log/log";
import { setAlarmBy } from "./alarm.ts";
import { ControlChannel, reportIn } from "./agent-channel.ts";
import { GuestWeb } from "./guest-web.ts";
import { ModifiedChannel } from "./modified-channel.ts";
import { TestdriveRecord, type RowState } from "./testdrive-record.ts";
import { VncRelay } from "./vnc-relay.ts";

/** One testdrive: its state, its one alarm, its agent's control socket and its viewers' pairs of sockets. */
export class Testdrive extends DurableObject<Env> {
  readonly #relay = new VncRelay(this.ctx);
  readonly #guestWeb = new GuestWeb(() => this.#countViewers());
  readonly #modified = new ModifiedChannel(this.ctx);
  readonly #control = new ControlChannel(this.ctx);
  readonly #record = new TestdriveRecord(this.env, this.ctx.storage.kv, this.#uid);
  /** Resolves when the session is claimed or can no longer be. Callers of start() hold the object in memory. */
  readonly #decided = Promise.withResolvers<void>();

  /** Wakes agents up and waits until one claims the session, or for 10 seconds. */
  async start(facts: TestdriveFacts): Promise<{ claimed: TestdriveLook } | { refused: "unclaimed" }> {
    if (!this.#session) {
      const state = startWaiting(Date.now());
      this.#record.rowIs({ state: "new", agentId: null });
      await this.#save({ facts, password: newPassword(8), state });
      this.ctx.waitUntil(this.#callAgents(facts.testdriveId));
    }
    await this.#decision();
    const state = await this.#advance({ type: "woke_up" });
    if (state?.status === "waiting") await this.#advance({ type: "woke_up", at: state.claimBy });
    const look = this.look();
    return look && look.state.status !== "ended" ? { claimed: look } : { refused: "unclaimed" };
  }

  /** Gives the session to the first agent that claims it. The same claim gets the same answer. */
  async claim(by: Claimant, vnc: VncAddress): Promise<{ claimed: TestdriveClaim } | { refused: "taken" }> {
    const session = this.#session;
    const again = session?.attempt && isSameClaim(session.attempt, by) ? session.attempt : undefined;
    if (!session || (!again && session.state.status !== "waiting")) return { refused: "taken" };
    const state = advance(session.state, { type: again ? "heard" : "claimed", at: Date.now() });
    const { testdriveId } = session.facts;
    const attempt = again ?? { ...by, vnc, token: newAttemptToken(by.agentId, { id: testdriveId, uid: this.#uid }) };
    const isLive = state.status !== "ended";
    await this.#save({ ...session, state, ...(isLive && { attempt }) });
    if (!isLive) return { refused: "taken" };
    return { claimed: { ...session.facts, token: attempt.token, password: session.password } };
  }

  look(): TestdriveLook | undefined {
    const session = this.#session;
    return session && { state: session.state, vnc: session.attempt?.vnc ?? null, password: session.password };
  }

  /** The build whose image this session's agent may read, while the session lasts. */
  async heldBuild(agentId: number, token: string): Promise<{ buildId: number } | { refused: "late" }> {
    const state = await this.#advance({ type: "woke_up" });
    const facts = this.#session?.facts;
    const isLive = state?.status === "preparing" || state?.status === "running";
    return facts && isLive && this.#isAttempt(agentId, token) ? { buildId: facts.buildId } : { refused: "late" };
  }

  /** The build of this agent's session, even an ended one, because the agent may boot the image once more. */
  bootedBuild(agentId: number, token: string): { buildId: number } | { refused: "late" } {
    const buildId = this.#session?.facts.buildId;
    return buildId !== undefined && this.#isAttempt(agentId, token) ? { buildId } : { refused: "late" };
  }

  async stop(): Promise<TestdriveLook | undefined> {
    await this.#advance({ type: "stopped" });
    return this.look();
  }

  /** Ends the session if an earlier process of this agent had it, because the agent has restarted. */
  async endOfAgent(agentId: number, incarnation?: Incarnation): Promise<void> {
    const attempt = this.#session?.attempt;
    if (attempt?.agentId !== agentId || !hasReplaced(incarnation, attempt.incarnation)) return;
    await this.#advance({ type: "agent_stopped", reason: agentRestarted });
  }

  async agentRemoved(agentId: number): Promise<void> {
    if (this.#session?.attempt?.agentId !== agentId) return;
    await this.#advance({ type: "agent_stopped", reason: agentRemoved });
  }

  /** Applies the passage of time and writes the row, even after a restore. False if this object has no session. */
  async wake(rowSays: RowState): Promise<boolean> {
    this.#record.rowIs(rowSays);
    return (await this.#advance({ type: "woke_up" })) !== undefined;
  }

  override async alarm(): Promise<void> {
    const state = this.#session?.state;
    const isForgotten = state?.status === "ended" && Date.now() >= nextWakeUp(state);
    // Counted, because a deploy closes sockets without an event.
    if (isForgotten) return await this.ctx.storage.deleteAll();
    await this.#countViewers();
    await this.#setAlarm(); // the alarm may have fired too early
  }

  /** Serves sockets, and visitors of the guest's web server. The routes have checked session and page token. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, side, viewer = ""] = url.pathname.split("/");
    const isAttempt = this.#isAttempt(Number(url.searchParams.get("agent")), request.headers.get(attemptHeader) ?? "");
    if (side === "modified") return await this.#modified.serve(request, { isAttempt }); // even if the session has ended
    const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
    if (!isSocket && side !== "web" && side !== "visits") return new Response(null, { status: 426 });
    const state = await this.#advance({ type: "woke_up" });
    if (state === undefined || state.status === "ended") return refused(410, "This testdrive has ended.");
    if (side === "page") return await this.#admitPage(request, state);
    if (side === "web") return await this.#visitGuest(request, state);
    if (!isAttempt) return refused(410, "This testdrive is another agent's.");
    if (side === "control") return await this.#acceptControl();
    if (side === "visits") return await this.#guestWeb.ofAgent(viewer, request);
    return this.#relay.join(decodeURIComponent(viewer)) ?? refused(410, "This viewer has left.");
  }

  override async webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    if (this.#modified.owns(socket)) return; // the agent sends its answers as requests
    if (!this.#control.owns(socket)) return this.#relay.pass(socket, frame);
    const report = reportIn(frame);
    if (!report) return socket.close(1008, "Not a report.");
    await this.#advance(this.#eventOf(report));
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    if (this.#modified.owns(socket)) return this.#modified.giveUp();
    if (this.#control.owns(socket)) return;
    this.#relay.part(socket, code, reason);
    await this.#countViewers();
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.webSocketClose(socket, 1006, "");
  }

  /** Waits for a claim, or the last moment for one. Stops the timer, since an object with a timer does not hibernate. */
  async #decision(): Promise<void> {
    const timer = new AbortController();
    const tooLate = scheduler.wait(claimWithinMs, { signal: timer.signal }).catch(() => {});
    await Promise.race([this.#decided.promise, tooLate]);
    timer.abort();
  }

  async #admitPage(request: Request, state: TestdriveState): Promise<Response> {
    if (state.status === "waiting") return refused(409, "This testdrive has no machine yet.");
    const admitted = this.#relay.admit(request);
    if (!admitted) return refused(503, "This testdrive has too many viewers at the moment.");
    this.#control.order({ type: "viewer", viewer: admitted.viewer });
    await this.#countViewers();
    return admitted.response;
  }

  async #visitGuest(request: Request, state: TestdriveState): Promise<Response> {
    if (state.status !== "running") return refused(503, "This machine is still starting.\n");
    return await this.#guestWeb.visit(request, (order) => this.#control.order(order));
  }

  /** The agent's channel. A new one gets an order for each viewer that the agent has not connected to. */
  async #acceptControl(): Promise<Response> {
    const response = this.#control.accept();
    for (const viewer of this.#relay.waiting) this.#control.order({ type: "viewer", viewer });
    await this.#advance({ type: "heard" });
    return response;
  }

  #eventOf(report: TestdriveReport): Moment {
    switch (report.type) {
      case "preparing":
        return { type: "prepares", message: report.message };
      case "ready":
        return { type: "ready", sessionMs: Number(this.env.TESTDRIVE_MINUTES) * 60_000 };
      case "tcp_viewers":
        return { type: "viewers", of: "tcp", count: report.count };
      case "stopped":
        return { type: "agent_stopped", reason: report.reason };
      case "alive":
        return { type: "heard" };
    }
  }

  #countViewers(): Promise<TestdriveState | undefined> {
    return this.#advance({ type: "viewers", of: "page", count: this.#relay.viewers.length + this.#guestWeb.visitors });
  }

  async #advance(moment: Moment): Promise<TestdriveState | undefined> {
    const session = this.#session;
    if (!session) return undefined;
    const state = advance(session.state, { at: Date.now(), ...moment });
    await this.#save({ ...session, state });
    return state;
  }

  /** Storage first, then what follows from it: alarm, sockets, the row in D1. */
  async #save(session: Session): Promise<void> {
    this.ctx.storage.kv.put("session", session);
    this.#record.note(known(session));
    await this.#setAlarm();
    if (session.state.status !== "waiting") this.#decided.resolve();
    if (session.state.status === "ended") this.#hangUp(session.state.reason);
    await this.#tell(session).catch((error: unknown) => {
      logFailure("could not write a testdrive's row", error, aboutOf(session));
    });
  }

  /** Writes and announces the session's state. The alarm repeats it until it succeeds. */
  async #tell(session: Session): Promise<void> {
    if (this.#record.isTold(known(session))) return;
    await this.#record.tell(known(session));
    await this.#setAlarm();
  }

  async #setAlarm(): Promise<void> {
    const session = this.#session;
    if (!session) return;
    const again = this.#record.isTold(known(session)) ? Infinity : Date.now() + tellAgainMs;
    await setAlarmBy(this.ctx.storage, Math.min(nextWakeUp(session.state), again));
  }

  #hangUp(reason: string): void {
    this.#control.hangUp(reason);
    this.#relay.closeAll(1000, "The testdrive has ended.");
    this.#guestWeb.closeAll();
  }

  /** Sends a wake-up to the agents. An agent that misses it looks for work again after a while. */
  async #callAgents(testdriveId: number): Promise<void> {
    const requestId = this.#session?.facts.requestId;
    await sendJob(this.env, { kind: "testdrive", testdriveId, ...(requestId !== undefined && { requestId }) }).catch(
      (error: unknown) => logFailure("could not call the agents for a testdrive", error, { testdriveId, requestId }),
    );
  }

  #isAttempt(agentId: number, token: string): boolean {
    const attempt = this.#session?.attempt;
    return attempt !== undefined && attempt.agentId === agentId && sameSecret(attempt.token, token);
  }

  /** The uid of the testdrive's row. */
  get #uid(): string {
    return this.ctx.id.name ?? "";
  }

  get #session(): Session | undefined {
    return this.ctx.storage.kv.get<Session>("session");
  }
}

interface Session {
  facts: TestdriveFacts;
  password: string;
  state: TestdriveState;
  attempt?: Claimant & { token: string; vnc: VncAddress };
}

type Moment = WithoutAt<TestdriveEvent> & { at?: number };
type WithoutAt<T> = T extends unknown ? Omit<T, "at"> : never;

const tellAgainMs = 5_000;
const agentRestarted = "The builder agent that ran it has restarted.";
const agentRemoved = "The builder agent that ran it has been removed.";

const known = ({ state, attempt }: Session) => ({ state, agentId: attempt?.agentId ?? null });

const refused = (status: number, sentence: string) => new Response(sentence, { status });

/** The facts of a log line about a session. */
const aboutOf = ({ facts }: Session) => ({ testdriveId: facts.testdriveId, requestId: facts.requestId });
