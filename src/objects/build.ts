import { DurableObject } from "cloudflare:workers";
import type {
  ArtifactName,
  BuildFailed,
  BuildFinished,
  CompleteUpload,
  Heartbeat,
  OpenUpload,
  RebuiltImage,
} from "#lib/contract/index";
import type { LogQuestion, LogSlice } from "#domain/builds/following";
import { isOver, type Refused } from "#domain/builds/machine";
import { progressOf, type Progress } from "#domain/builds/progress";
import type { Claimant } from "#domain/claimant";
import { callOff } from "#domain/jobs";
import type { Build as Row } from "#storage/builds";
import { BuildAttempt } from "./build-attempt.ts";
import { BuildLifecycle } from "./build-lifecycle.ts";
import type { RecordedPart } from "./build-uploads.ts";
import { done, type Done } from "./done.ts";

/** One build, named by its row's uid. Refusals are values, since RPC loses their class. */
export class Build extends DurableObject<Env> {
  readonly #life = new BuildLifecycle(this.ctx, this.env);
  readonly #attempt = new BuildAttempt(this.#life, this.env);

  /** Begins with the row, or continues what a crash interrupted. Writes the row again if a restore has set it back. */
  async wake({
    rowState,
    requestId,
  }: { rowState?: Row["status"]; requestId?: string | undefined } = {}): Promise<void> {
    this.#life.chores.noteRequest(requestId);
    const state = await this.#life.load();
    if (!state) return;
    if (rowState !== undefined && rowState !== state.status) this.#life.chores.forgetRow();
    await this.#life.settle();
  }

  async cancel(): Promise<{ cancelled: true } | Refused> {
    const state = await this.#life.apply({ type: "cancelled", at: Date.now() });
    if ("refused" in state) return state;
    if (state.status === "cancelled" && state.agentId !== null) {
      await callOff(this.env, state.agentId, this.#life.id);
    }
    return { cancelled: true };
  }

  /** The build's progress; undefined if there is no such build. An end is visible here only after D1 has it. */
  async progress(): Promise<Progress | undefined> {
    const state = await this.#life.load();
    if (!state) return undefined;
    if (isOver(state)) await this.#life.settle();
    return progressOf(this.#life.state ?? state, Date.now());
  }

  async readLog({ from, maxBytes, waitMs = 0, seen, onlyProgress }: LogQuestion): Promise<LogSlice | undefined> {
    const { log, followers } = this.#life;
    const news = onlyProgress ? followers.news : followers.logNews;
    const state = await this.#life.load();
    if (!state) return undefined;
    if (!onlyProgress) log.noteReader();
    const start = typeof from === "number" ? from : Math.max(0, log.length - from.last);
    await news.wait(seen, waitMs);
    const bytes = await log.read(start, maxBytes);
    const progress = progressOf(this.#life.state ?? state, Date.now());
    return { from: start, bytes, length: log.length, progress, revision: news.revision };
  }

  /** A socket for what changes from now on: the progress, with `?what=log` also the log. */
  override fetch(request: Request): Response {
    const isLog = new URL(request.url).searchParams.get("what") === "log";
    return this.#life.followers.accept(isLog ? "log" : "progress");
  }

  /** Deletes everything, as the build's row is gone. First waits for work in progress, which could write again. */
  async forget(): Promise<void> {
    this.#life.followers.hangUp();
    await this.#life.end();
    await this.ctx.storage.deleteAll();
  }

  async claim(agentId: number, expectedSeconds?: number, by: Omit<Claimant, "agentId"> = {}) {
    return await this.#attempt.claim({ ...by, agentId }, expectedSeconds);
  }

  /** Gives the build back, because the service could not create the claim's answer. */
  async notHandedOut(token: string): Promise<Done | Refused> {
    return done(await this.#life.apply({ type: "not_handed_out", at: Date.now(), token }));
  }

  async endLease(agentId: number, incarnation?: Claimant["incarnation"]) {
    return await this.#attempt.endLease(agentId, incarnation);
  }

  async agentRemoved(agentId: number): Promise<void> {
    await this.#life.apply({ type: "agent_removed", at: Date.now(), agentId });
  }

  async heartbeat(token: string, beat: Heartbeat) {
    // Not awaited, because a heartbeat must not depend on D1.
    if (this.#life.chores.isLivenessDue) this.ctx.waitUntil(this.#life.reportLiveness());
    return await this.#attempt.heartbeat(token, beat);
  }

  async release(token: string): Promise<Done | Refused> {
    return done(await this.#life.apply({ type: "released", at: Date.now(), token }));
  }

  async fail(token: string, { kind, reason }: BuildFailed): Promise<Done | Refused> {
    return done(await this.#life.apply({ type: "failed", at: Date.now(), token, kind, reason }));
  }

  async stateRebuilt(token: string, image: RebuiltImage) {
    return await this.#attempt.stateRebuilt(token, image);
  }

  async finish(token: string, result: BuildFinished) {
    return await this.#attempt.finish(token, result);
  }

  async appendLog(token: string, offset: number, bytes: Uint8Array) {
    return await this.#attempt.appendLog(token, offset, bytes);
  }

  async checkAttempt(token: string) {
    return await this.#attempt.check(token);
  }

  async openUpload(token: string, name: ArtifactName, file: Pick<OpenUpload, "size" | "digests">) {
    return await this.#attempt.openUpload(token, name, file);
  }

  async expectPart(token: string, name: ArtifactName, part: Omit<RecordedPart, "etag">) {
    return await this.#attempt.expectPart(token, name, part);
  }

  async recordPart(token: string, name: ArtifactName, part: RecordedPart) {
    return await this.#attempt.recordPart(token, name, part);
  }

  async completeUpload(token: string, name: ArtifactName, stated: CompleteUpload) {
    return await this.#attempt.completeUpload(token, name, stated);
  }

  override async alarm(): Promise<void> {
    await this.#life.wakeUp();
  }
}
