import { DurableObject } from "cloudflare:workers";
import type {
  ArtifactName,
  BuildFailed,
  BuildFinished,
  CompleteUpload,
  Heartbeat,
  UploadState,
} from "#lib/contract/index";
import { newAttemptToken } from "#domain/attempt-token";
import { agentsSeen } from "#domain/builds/agents-seen";
import type { Claimed } from "#domain/builds/claimed";
import type { LogQuestion, LogSlice } from "#domain/builds/log";
import {
  advance,
  isHeldBy,
  isHeldByAgent,
  isOver,
  nextWakeUp,
  queued,
  timeLimitMs,
  type BuildEvent,
  type BuildState,
  type Refused,
  type RunningState,
} from "#domain/builds/machine";
import { progressOf, type Progress } from "#domain/builds/progress";
import { longQueueMs } from "#domain/builds/why-waiting";
import type { Claimant } from "#domain/claimant";
import { callOff } from "#domain/jobs";
import { forRequest } from "#log/request-id";
import { toldInstalledKey } from "#storage/blobs";
import { findBuildByUid, isUnfinished, type Build as Row } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { retryMs } from "./alarm.ts";
import { BuildChores, idOfBuild } from "./build-chores.ts";
import { BuildLog, type Growth } from "./build-log.ts";
import { BuildUploads, type RecordedPart, type UploadRefused } from "./build-uploads.ts";
import { done, type Done } from "./done.ts";
import { News } from "./news.ts";

/**
 * One build, named by its row's uid: the shell around the state machine. It loads, advances and saves the state. Chores
 * notify D1, the queue and R2; they may run twice, and the alarm repeats them until they succeed. Refusals are values,
 * since RPC loses their class.
 */
export class Build extends DurableObject<Env> {
  readonly #kv: SyncKvStorage;
  readonly #log: BuildLog;
  readonly #uploads: BuildUploads;
  readonly #chores: BuildChores;
  #settled: Promise<void> = Promise.resolve();
  readonly #news = new News();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#kv = ctx.storage.kv;
    this.#log = new BuildLog(ctx.storage, env.BLOBS);
    this.#uploads = new BuildUploads(ctx.storage.sql, env.BLOBS);
    const { storage } = ctx;
    this.#chores = new BuildChores({ env, storage, uid: this.#uid, log: this.#log, uploads: this.#uploads });
  }

  /** Begins with the row, or continues what a crash interrupted. Writes the row again if a restore has set it back. */
  async wake({ rowSays, requestId }: { rowSays?: Row["status"]; requestId?: string | undefined } = {}): Promise<void> {
    this.#chores.noteRequest(requestId);
    const state = await this.#load();
    if (!state) return;
    if (rowSays !== undefined && rowSays !== state.status) this.#chores.rowSaysOther();
    await this.#settle();
  }

  async cancel(): Promise<{ cancelled: true } | Refused> {
    const state = await this.#apply({ type: "cancelled", at: Date.now() });
    if ("refused" in state) return state;
    if (state.status === "cancelled" && state.agentId !== null) {
      await callOff(this.env, state.agentId, this.#id);
    }
    return { cancelled: true };
  }

  /** The build's progress; undefined if there is no such build. An end is visible here only after D1 has it. */
  async progress(): Promise<Progress | undefined> {
    const state = await this.#load();
    if (!state) return undefined;
    if (isOver(state)) await this.#settle();
    return progressOf(this.#state ?? state, Date.now());
  }

  async readLog({ from, maxBytes, waitMs = 0, seen }: LogQuestion): Promise<LogSlice | undefined> {
    const state = await this.#load();
    if (!state) return undefined;
    this.#log.noteReader();
    const start = typeof from === "number" ? from : Math.max(0, this.#log.length - from.last);
    await this.#news.wait(seen, waitMs);
    const bytes = await this.#log.read(start, maxBytes);
    const progress = progressOf(this.#state ?? state, Date.now());
    return { from: start, bytes, length: this.#log.length, progress, revision: this.#news.revision };
  }

  /** Deletes everything, as the build's row is gone. First waits for work in progress, which could write again. */
  async forget(): Promise<void> {
    await this.#settled.then(() => this.#uploads.discardAllBut(null));
    await this.ctx.storage.deleteAll();
  }

  /** Gives the build to an agent: a token for this attempt, and a lease that heartbeats renew. The same claim gets the same token. */
  async claim(
    agentId: number,
    expectedSeconds?: number,
    by: Omit<Claimant, "agentId"> = {},
  ): Promise<Claimed | Refused> {
    await this.#load(); // reads the id
    const token = newAttemptToken(agentId, { id: this.#id, uid: this.#uid });
    const state = await this.#apply({ type: "claimed", at: Date.now(), agentId, token, expectedSeconds, ...by });
    if ("refused" in state) return state;
    if (state.status !== "running") return { refused: "not_queued" };
    return { attempt: state.attempt, token: state.token, timeLimitMs, requestId: this.#chores.requestId };
  }

  /** Gives the build back, because the service could not create the claim's answer. */
  async notHandedOut(token: string): Promise<Done | Refused> {
    return done(await this.#apply({ type: "not_handed_out", at: Date.now(), token }));
  }

  /** Ends the lease after the agent's restart. `elsewhere` if the agent's process on another host holds the build. */
  async endLease(agentId: number, incarnation?: Claimant["incarnation"]): Promise<"ended" | "elsewhere" | "not_held"> {
    if (!isHeldByAgent(await this.#load(), agentId)) return "not_held";
    await this.#apply({ type: "agent_restarted", at: Date.now(), agentId, incarnation });
    const now = this.#state;
    if (!isHeldByAgent(now, agentId)) return "ended";
    return now.incarnation?.host === incarnation?.host ? "not_held" : "elsewhere";
  }

  async agentRemoved(agentId: number): Promise<void> {
    await this.#apply({ type: "agent_removed", at: Date.now(), agentId });
  }

  async heartbeat(token: string, beat: Heartbeat): Promise<{ cancel: boolean } | Refused> {
    // Not waited for: a heartbeat must not depend on D1.
    if (this.#chores.isLivenessDue) this.ctx.waitUntil(this.#reportLiveness());
    const state = await this.#apply({ type: "heartbeat", at: Date.now(), token, beat });
    return "refused" in state ? state : { cancel: state.status === "cancelled" };
  }

  async release(token: string): Promise<Done | Refused> {
    return done(await this.#apply({ type: "released", at: Date.now(), token }));
  }

  async fail(token: string, { kind, reason }: BuildFailed): Promise<Done | Refused> {
    return done(await this.#apply({ type: "failed", at: Date.now(), token, kind, reason }));
  }

  async finish(token: string, result: BuildFinished): Promise<Done | Refused | UploadRefused> {
    const running = await this.#running(token);
    if (running) {
      const artifacts = this.#uploads.findArtifacts(running.attempt);
      if (!artifacts) return { refused: "incomplete" };
      const { installed, ...facts } = result;
      await this.env.BLOBS.put(toldInstalledKey(this.#uid, running.attempt), JSON.stringify(installed));
      // The lease may have ended by now.
      if (await this.#running(token)) this.#chores.keepOutcome({ ...facts, artifacts });
    }
    return done(await this.#apply({ type: "finished", at: Date.now(), token }));
  }

  async appendLog(token: string, offset: number, bytes: Uint8Array): Promise<Growth | Refused> {
    return await this.#during(token, (attempt) => {
      const nextOffset = this.#log.append(attempt, offset, bytes);
      this.#news.tell();
      return this.#log.isRead ? { nextOffset, watched: true } : { nextOffset };
    });
  }

  async openUpload(token: string, name: ArtifactName, size?: number): Promise<UploadState | Refused | UploadRefused> {
    return await this.#during(token, (attempt) => this.#uploads.open(this.#uid, { attempt, name }, size));
  }

  /** Refused if another attempt has the work, or if the build has ended. */
  async checkAttempt(token: string): Promise<Done | Refused> {
    return await this.#during(token, () => ({ done: true }));
  }

  /** The address for a part. */
  async expectPart(token: string, name: ArtifactName, part: Omit<RecordedPart, "etag">) {
    return await this.#during(token, (attempt) => this.#uploads.expect({ attempt, name }, part));
  }

  async recordPart(token: string, name: ArtifactName, part: RecordedPart): Promise<Done | Refused> {
    return await this.#during(token, (attempt) => {
      this.#uploads.record({ attempt, name }, part);
      return { done: true };
    });
  }

  async completeUpload(
    token: string,
    name: ArtifactName,
    stated: CompleteUpload,
  ): Promise<Done | Refused | UploadRefused> {
    return done(await this.#during(token, (attempt) => this.#uploads.complete({ attempt, name }, stated)));
  }

  override async alarm(): Promise<void> {
    if ((await this.#load())?.status === "queued") await this.#reportLiveness();
    const state = this.#state;
    if (!state) return;
    const isLong = state.status === "queued" && Date.now() - state.queuedAt >= longQueueMs;
    const agents = isLong
      ? await agentsSeen({ env: this.env, db: openDatabase(this.env.DB) }, this.#uid).catch(() => "unknown" as const)
      : "unknown";
    const isCutOff = state.status === "running" && Date.now() >= state.leaseEndsAt && !(await this.#reportLiveness());
    await this.#apply({ type: "woke_up", at: Date.now(), agents, isCutOff });
    await this.#settle({ slowOnes: true });
  }

  get #uid(): string {
    return this.ctx.id.name ?? "";
  }

  /** The build's id. Known once the row was read. */
  get #id(): number {
    return idOfBuild(this.#kv, this.#uid);
  }

  get #state(): BuildState | undefined {
    return this.#kv.get<BuildState>("state");
  }

  async #load(): Promise<BuildState | undefined> {
    const known = this.#state;
    if (known) return known;
    const row = await findBuildByUid(openDatabase(this.env.DB), this.#uid);
    if (!row || !isUnfinished(row)) return undefined;
    // Another call may have begun while this one read from D1.
    return this.#state ?? this.#begin(row);
  }

  #begin(row: Pick<Row, "id" | "status">): BuildState {
    this.#kv.put("buildId", row.id);
    this.#log.makeTables();
    this.#uploads.makeTables();
    const state = queued(Date.now());
    if (row.status === "queued") this.#chores.rowSays(state);
    return this.#save(state);
  }

  /** False if D1 is unreachable. If a restored database lacks the row, the image is unused and its id is reused. */
  async #reportLiveness(): Promise<boolean> {
    const state = this.#state;
    const agentId = state?.status === "running" ? state.agentId : null;
    const found = await this.#chores.reportLiveness(agentId);
    if (found?.build === false) await this.#apply({ type: "cancelled", at: Date.now() });
    if (found?.agent === false && agentId !== null) await this.agentRemoved(agentId);
    return found !== undefined;
  }

  async #running(token: string): Promise<RunningState | undefined> {
    const state = await this.#load();
    return isHeldBy(state, token) ? state : undefined;
  }

  /** Runs `act`, if the token is that of the running attempt. */
  async #during<Answer>(token: string, act: (attempt: number) => Promise<Answer> | Answer): Promise<Answer | Refused> {
    const running = await this.#running(token);
    return running ? await act(running.attempt) : { refused: "late" };
  }

  async #apply(event: BuildEvent): Promise<BuildState | Refused> {
    const state = await this.#load();
    if (!state) return { refused: "late" };
    const next = advance(state, event);
    if ("refused" in next || next === state) return next;
    this.#save(next);
    // Chores need D1, and a lease must not.
    if (event.type !== "heartbeat") await this.#settle();
    return next;
  }

  #save(state: BuildState): BuildState {
    const before = this.#state;
    this.#kv.put("state", state);
    this.#chores.note(state);
    this.#news.tell();
    // A heartbeat needs no chores, and the present alarm comes before the end of the new lease.
    if (before?.status === "running" && state.status === "running" && before.attempt === state.attempt) return state;
    // In the same write as the state: a crash right after it leaves the chores to the alarm.
    void this.ctx.storage.setAlarm(Math.min(Date.now() + retryMs, nextWakeUp(state) ?? Infinity));
    return state;
  }

  /** Runs the chores one after the other. */
  #settle(which: { slowOnes: boolean } = { slowOnes: false }): Promise<void> {
    const run = () =>
      forRequest(this.#chores.requestId, async () => this.#state && (await this.#chores.run(this.#state, which)));
    this.#settled = this.#settled.then(run, run);
    return this.#settled;
  }
}
