import { DurableObject } from "cloudflare:workers";
import type { ArtifactName, BuildFailed, BuildFinished, CompleteUpload, Heartbeat, UploadState } from "#contract/index";
import { newAttemptToken } from "#domain/attempt-token";
import { agentsSeen } from "#domain/builds/agents-seen";
import type { LogQuestion, LogSlice } from "#domain/builds/log";
import {
  advance,
  isHeldBy,
  isOver,
  longQueueMs,
  nextWakeUp,
  queued,
  timeLimitMs,
  type BuildEvent,
  type BuildState,
  type Refused,
  type RunningState,
} from "#domain/builds/machine";
import { progressOf, type Progress } from "#domain/builds/progress";
import { switchboard } from "#domain/jobs";
import { showLifeEveryMs, wakeAfterLife } from "#domain/sign-of-life";
import { logFailure } from "#log/log";
import { forRequest } from "#log/request-id";
import { installedKey } from "#storage/blobs";
import { findBuildByUid, isUnfinished, saveSignOfLife, type Build as Row } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { setAlarmBy } from "./alarm.ts";
import { BuildChores, idOfBuild, retryMs } from "./build-chores.ts";
import { BuildLog, type Growth } from "./build-log.ts";
import { BuildUploads, type RecordedPart, type UploadRefused } from "./build-uploads.ts";
import { done, type Done } from "./done.ts";

export interface Claimed {
  attempt: number;
  token: string;
  timeLimitMs: number;
  requestId: string | undefined;
}

/**
 * One build, named by its row's uid: the machine's shell. It loads, advances and saves the state. Chores notify D1, the queue and
 * R2; they may run twice, and the alarm repeats them until they succeed. Refusals are values, since RPC loses their class.
 */
export class Build extends DurableObject<Env> {
  readonly #kv: SyncKvStorage;
  readonly #log: BuildLog;
  readonly #uploads: BuildUploads;
  readonly #chores: BuildChores;
  #settled: Promise<void> = Promise.resolve();
  #news = Promise.withResolvers<void>();
  #revision = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#kv = ctx.storage.kv;
    this.#log = new BuildLog(ctx.storage, env.BLOBS);
    this.#uploads = new BuildUploads(ctx.storage.sql, env.BLOBS);
    this.#chores = new BuildChores({ env, kv: this.#kv, uid: this.#uid, log: this.#log, uploads: this.#uploads });
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
      await switchboard(this.env).cancel(state.agentId, this.#id).catch(this.#complain("the agent's socket"));
    }
    return { cancelled: true };
  }

  /** Undefined: this object knows no such build. An end is visible here only after D1 has it. */
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
    const isNews = seen === undefined || this.#revision !== seen;
    if (!isNews && waitMs > 0) await Promise.race([this.#news.promise, scheduler.wait(waitMs)]);
    const bytes = await this.#log.read(start, maxBytes);
    const progress = progressOf(this.#state ?? state, Date.now());
    return { from: start, bytes, length: this.#log.length, progress, revision: this.#revision };
  }

  /** Its row is gone. Waits for work in progress, which would otherwise write after that. */
  async forget(): Promise<void> {
    await this.#settled.then(() => this.#uploads.discardAllBut(null));
    await this.ctx.storage.deleteAll();
  }

  /** Gives the build to an agent: a token for this attempt, and a lease that heartbeats renew. */
  async claim(agentId: number, expectedSeconds?: number): Promise<Claimed | Refused> {
    await this.#load(); // knows the id
    const token = newAttemptToken(agentId, { id: this.#id, uid: this.#uid });
    const state = await this.#apply({ type: "claimed", at: Date.now(), agentId, token, expectedSeconds });
    return "refused" in state
      ? state
      : { attempt: state.attempt, token, timeLimitMs, requestId: this.#chores.requestId };
  }

  /** The agent has restarted and remembers nothing. Returns whether it held this build. */
  async endLease(agentId: number): Promise<boolean> {
    const before = await this.#load();
    await this.#apply({ type: "agent_restarted", at: Date.now(), agentId });
    return before?.status === "running" && before.agentId === agentId;
  }

  async heartbeat(token: string, beat: Heartbeat): Promise<{ cancel: boolean } | Refused> {
    if (Date.now() - (this.#kv.get<number>("shownAt") ?? 0) >= showLifeEveryMs) await this.#showLife();
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
      await this.env.BLOBS.put(installedKey(this.#uid), JSON.stringify(installed));
      this.#chores.keepOutcome({ ...facts, artifacts });
    }
    return done(await this.#apply({ type: "finished", at: Date.now(), token }));
  }

  async appendLog(token: string, offset: number, bytes: Uint8Array): Promise<Growth | Refused> {
    const running = await this.#running(token);
    if (!running) return { refused: "late" };
    const nextOffset = this.#log.append(running.attempt, offset, bytes);
    this.#tellWatchers();
    return this.#log.isRead ? { nextOffset, watched: true } : { nextOffset };
  }

  async openUpload(token: string, name: ArtifactName, size?: number): Promise<UploadState | Refused | UploadRefused> {
    const running = await this.#running(token);
    if (!running) return { refused: "late" };
    return await this.#uploads.open(this.#uid, { attempt: running.attempt, name }, size);
  }

  /** Refused: another attempt has the work, or it is over. */
  async checkAttempt(token: string): Promise<Done | Refused> {
    return (await this.#running(token)) ? { done: true } : { refused: "late" };
  }

  /** Where a part goes. */
  async expectPart(token: string, name: ArtifactName, part: Omit<RecordedPart, "etag">) {
    const running = await this.#running(token);
    if (!running) return { refused: "late" } as const;
    return this.#uploads.expect({ attempt: running.attempt, name }, part);
  }

  async recordPart(token: string, name: ArtifactName, part: RecordedPart): Promise<Done | Refused> {
    const running = await this.#running(token);
    if (!running) return { refused: "late" };
    this.#uploads.record({ attempt: running.attempt, name }, part);
    return { done: true };
  }

  async completeUpload(
    token: string,
    name: ArtifactName,
    stated: CompleteUpload,
  ): Promise<Done | Refused | UploadRefused> {
    const running = await this.#running(token);
    if (!running) return { refused: "late" };
    return done(await this.#uploads.complete({ attempt: running.attempt, name }, stated));
  }

  override async alarm(): Promise<void> {
    if ((await this.#load())?.status === "queued") await this.#showLife();
    const state = this.#state;
    if (!state) return;
    const isLong = state.status === "queued" && Date.now() - state.queuedAt >= longQueueMs;
    const agents = isLong
      ? await agentsSeen({ env: this.env, db: openDatabase(this.env.DB) }, this.#uid).catch(() => "unknown" as const)
      : "unknown";
    await this.#apply({ type: "woke_up", at: Date.now(), agents });
    await this.#settle({ slowOnes: true });
  }

  get #uid(): string {
    return this.ctx.id.name ?? "";
  }

  /** Known once the row was read. */
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
    // Another call may have begun while this one asked D1.
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

  /** Writes a sign of life to the row. If a restored database lacks the row, no one needs the image, and its id is used again. */
  async #showLife(): Promise<void> {
    const at = Date.now();
    this.#kv.put("shownAt", at);
    const isThere = await saveSignOfLife(openDatabase(this.env.DB), this.#uid, wakeAfterLife(at)).catch(() => true);
    if (!isThere) await this.#apply({ type: "cancelled", at: Date.now() });
  }

  async #running(token: string): Promise<RunningState | undefined> {
    const state = await this.#load();
    return isHeldBy(state, token) ? state : undefined;
  }

  async #apply(event: BuildEvent): Promise<BuildState | Refused> {
    const state = await this.#load();
    if (!state) return { refused: "late" };
    const next = advance(state, event);
    if ("refused" in next || next === state) return next;
    this.#save(next);
    await this.#settle();
    return next;
  }

  #save(state: BuildState): BuildState {
    const before = this.#state;
    this.#kv.put("state", state);
    this.#chores.note(state);
    this.#tellWatchers();
    // A heartbeat needs no chores, and the present alarm comes before the end of the new lease.
    if (before?.status === "running" && state.status === "running" && before.attempt === state.attempt) return state;
    // In the same write as the state: a crash right after it leaves the chores to the alarm.
    void this.ctx.storage.setAlarm(Math.min(Date.now() + retryMs, nextWakeUp(state) ?? Infinity));
    return state;
  }

  /** Runs the chores one after the other, and sets the alarm for what remains. */
  #settle(which: { slowOnes: boolean } = { slowOnes: false }): Promise<void> {
    const run = () => forRequest(this.#chores.requestId, () => this.#doChores(which));
    this.#settled = this.#settled.then(run, run);
    return this.#settled;
  }

  async #doChores({ slowOnes }: { slowOnes: boolean }): Promise<void> {
    const state = this.#state;
    if (!state) return;
    try {
      await this.#chores.tell(state);
      if (slowOnes && isOver(state)) await this.#chores.tidyUp(state);
      await setAlarmBy(this.ctx.storage, this.#chores.isTidy(state) ? nextWakeUp(state) : Date.now());
    } catch (error) {
      this.#complain("chores")(error);
      await setAlarmBy(this.ctx.storage, Math.min(Date.now() + retryMs, nextWakeUp(state) ?? Infinity));
    }
  }

  #tellWatchers(): void {
    this.#revision += 1;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  #complain(what: string): (error: unknown) => void {
    const facts = { buildId: this.#id, what, requestId: this.#chores.requestId };
    return (error) => logFailure("a build's object failed", error, facts);
  }
}
