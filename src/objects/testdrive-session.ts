import {
  startsMachine,
  type Incarnation,
  type Seed,
  type TestdriveClaim,
  type TestdriveClaimRequest,
} from "#lib/contract/index";
import { newAttemptToken } from "#domain/attempt-token";
import { isSameClaim, type Claimant } from "#domain/claimant";
import { hasReplaced } from "#domain/incarnation";
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
import { TestdriveRecord, type RowState } from "./testdrive-record.ts";

interface Session {
  facts: TestdriveFacts;
  password: string;
  state: TestdriveState;
  /** Whether its agent must also get a seed, which is not stored. */
  isSeeded?: boolean;
  /** The only agent that can claim it. Absent: any. */
  agentId?: number;
  attempt?: Claimant & { token: string; vnc: VncAddress };
}

export type Moment = WithoutAt<TestdriveEvent> & { at?: number };
type WithoutAt<T> = T extends unknown ? Omit<T, "at"> : never;

const reportAgainMs = 5_000;

/** The session of a testdrive, from its start to its end: its stored state, its one alarm and its row in D1. */
export class TestdriveSession {
  readonly #storage: DurableObjectStorage;
  readonly #onEnd: (reason: string) => void;
  readonly #record: TestdriveRecord;
  /** The uid of the testdrive's row. */
  readonly #uid: string;
  /** Resolves when the session is claimed or can no longer be. Callers of start() hold the object in memory. */
  readonly #decided = Promise.withResolvers<void>();

  /**
   * Only in memory, which lasts while `start` waits for the claim and until the machine runs: stored data could come
   * back with a backup.
   */
  #seed: Seed | undefined;

  /** `onEnd` is called when the session has ended; perhaps more than once. */
  constructor({ storage, id }: DurableObjectState, env: Env, onEnd: (reason: string) => void) {
    this.#storage = storage;
    this.#onEnd = onEnd;
    this.#uid = id.name ?? "";
    this.#record = new TestdriveRecord(env, storage.kv, this.#uid);
  }

  /** Undefined before the start, and after everything was deleted. */
  get facts(): TestdriveFacts | undefined {
    return this.#session?.facts;
  }

  get look(): TestdriveLook | undefined {
    const session = this.#session;
    return session && { state: session.state, vnc: session.attempt?.vnc ?? null, password: session.password };
  }

  /** With `agentId`, only that agent can claim it. */
  async begin(
    facts: TestdriveFacts,
    { seed, agentId }: { seed?: Seed | undefined; agentId?: number | undefined } = {},
  ): Promise<void> {
    this.#seed = seed;
    const state = startWaiting(Date.now());
    this.#record.rowIs({ state: "new", agentId: null });
    const only = { ...(seed && { isSeeded: true }), ...(agentId !== undefined && { agentId }) };
    await this.#save({ facts, password: newPassword(8), state, ...only });
  }

  /** The only agent that can claim it. Undefined: any. */
  get agentId(): number | undefined {
    return this.#session?.agentId;
  }

  /** Whether an agent can claim it. */
  get isWaiting(): boolean {
    return this.#session?.state.status === "waiting";
  }

  /** Waits for a claim, at most until the last moment for one. Stops the timer, since an object with a timer does not hibernate. */
  async decision(withinMs = claimWithinMs): Promise<void> {
    const timer = new AbortController();
    const tooLate = scheduler.wait(withinMs, { signal: timer.signal }).catch(() => {});
    await Promise.race([this.#decided.promise, tooLate]);
    timer.abort();
  }

  /**
   * Gives the session to the first agent that claims it and can start its machine. A repeated claim gets the same
   * answer.
   */
  async claim(
    by: Claimant,
    { vnc, machines }: Pick<TestdriveClaimRequest, "vnc" | "machines">,
  ): Promise<{ claimed: TestdriveClaim } | { refused: "taken" }> {
    const session = this.#session;
    const again = session?.attempt && isSameClaim(session.attempt, by) ? session.attempt : undefined;
    if (!session || (!again && session.state.status !== "waiting")) return { refused: "taken" };
    const isFit = startsMachine({ machines }, session.facts.arch) && (session.agentId ?? by.agentId) === by.agentId;
    if (!isFit) return { refused: "taken" };
    const seed = this.#seed;
    // The seed is lost. A machine without it would not be the one that its user asked for.
    if (session.isSeeded && !seed) return { refused: "taken" };
    const state = advance(session.state, { type: again ? "heard" : "claimed", at: Date.now() });
    const { testdriveId } = session.facts;
    const attempt = again ?? { ...by, vnc, token: newAttemptToken(by.agentId, { id: testdriveId, uid: this.#uid }) };
    const isLive = state.status !== "ended";
    await this.#save({ ...session, state, ...(isLive && { attempt }) });
    if (!isLive) return { refused: "taken" };
    const claimed = { ...session.facts, token: attempt.token, password: session.password };
    return { claimed: { ...claimed, ...(seed && { seed }) } };
  }

  isAttempt(agentId: number, token: string): boolean {
    const attempt = this.#session?.attempt;
    return attempt !== undefined && attempt.agentId === agentId && sameSecret(attempt.token, token);
  }

  isHeldBy(agentId: number): boolean {
    return this.#session?.attempt?.agentId === agentId;
  }

  /** Whether an earlier process of this agent had the session. */
  isHeldByEarlier(agentId: number, incarnation?: Incarnation): boolean {
    const attempt = this.#session?.attempt;
    return attempt?.agentId === agentId && hasReplaced(incarnation, attempt.incarnation);
  }

  /** Notes the row's state, even if this object has written something else. */
  rowIs(row: RowState): void {
    this.#record.rowIs(row);
  }

  async advance(moment: Moment): Promise<TestdriveState | undefined> {
    const session = this.#session;
    if (!session) return undefined;
    const state = advance(session.state, { at: Date.now(), ...moment });
    await this.#save({ ...session, state });
    return state;
  }

  async setAlarm(): Promise<void> {
    const session = this.#session;
    if (!session) return;
    const again = this.#record.isReported(known(session)) ? Infinity : Date.now() + reportAgainMs;
    await setAlarmBy(this.#storage, Math.min(nextWakeUp(session.state), again));
  }

  /** Writes storage first, and then everything that depends on it: the alarm, the sockets and the row in D1. */
  async #save(session: Session): Promise<void> {
    this.#storage.kv.put("session", session);
    this.#record.note(known(session));
    await this.setAlarm();
    if (session.state.status === "running" || session.state.status === "ended") this.#seed = undefined;
    if (session.state.status !== "waiting") this.#decided.resolve();
    if (session.state.status === "ended") this.#onEnd(session.state.reason);
    await this.#report(session).catch((error: unknown) => {
      const { testdriveId, requestId } = session.facts;
      logFailure("could not write a testdrive's row", error, { testdriveId, requestId });
    });
  }

  /** Writes and announces the session's state. The alarm repeats it until it succeeds. */
  async #report(session: Session): Promise<void> {
    if (this.#record.isReported(known(session))) return;
    await this.#record.report(known(session));
    await this.setAlarm();
  }

  get #session(): Session | undefined {
    return this.#storage.kv.get<Session>("session");
  }
}

const known = ({ state, attempt, facts }: Session) => ({
  state,
  agentId: attempt?.agentId ?? null,
  isCheck: facts.checks !== undefined,
});
