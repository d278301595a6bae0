import type {
  ArtifactName,
  BuildFinished,
  CompleteUpload,
  Heartbeat,
  OpenUpload,
  RebuiltImage,
  UploadState,
} from "#lib/contract/index";
import { newAttemptToken } from "#domain/attempt-token";
import type { Claimed } from "#domain/builds/claimed";
import { isHeldByAgent, timeLimitMs, type Refused, type RunningState } from "#domain/builds/machine";
import { isSameImage, type RebuildOutcome } from "#domain/builds/rebuilt";
import type { Artifacts } from "#domain/builds/record";
import { shareArtifact } from "#domain/builds/shared-files";
import type { Claimant } from "#domain/claimant";
import { reportedInstalledKey } from "#storage/blobs";
import { openDatabase, type Database, type Databases } from "#storage/db";
import type { BuildLifecycle } from "./build-lifecycle.ts";
import type { Growth } from "./build-log.ts";
import type { RecordedPart, UploadRefused } from "./build-uploads.ts";
import { done, type Done } from "./done.ts";

/** The calls of agents about a build: they claim it, and its token then proves that an agent still has it. */
export class BuildAttempt {
  readonly #life: BuildLifecycle;
  readonly #blobs: R2Bucket;
  readonly #db: Database;

  constructor(life: BuildLifecycle, env: Pick<Env, "BLOBS"> & Databases) {
    this.#life = life;
    this.#blobs = env.BLOBS;
    this.#db = openDatabase(env);
  }

  /**
   * Gives the build to an agent. Returns a token for this attempt, and starts a lease, which heartbeats renew. A
   * repeated claim gets the same token.
   */
  async claim({ agentId, ...by }: Claimant, expectedSeconds?: number): Promise<Claimed | Refused> {
    await this.#life.load(); // reads the id
    const token = newAttemptToken(agentId, this.#life);
    const state = await this.#life.apply({ type: "claimed", at: Date.now(), agentId, token, expectedSeconds, ...by });
    if ("refused" in state) return state;
    if (state.status !== "running") return { refused: "not_queued" };
    return { attempt: state.attempt, token: state.token, timeLimitMs, requestId: this.#life.chores.requestId };
  }

  /** Ends the lease after the agent's restart. `elsewhere` if the agent's process on another host holds the build. */
  async endLease(agentId: number, incarnation?: Claimant["incarnation"]): Promise<"ended" | "elsewhere" | "not_held"> {
    if (!isHeldByAgent(await this.#life.load(), agentId)) return "not_held";
    await this.#life.apply({ type: "agent_restarted", at: Date.now(), agentId, incarnation });
    const now = this.#life.state;
    if (!isHeldByAgent(now, agentId)) return "ended";
    return now.incarnation?.host === incarnation?.host ? "not_held" : "elsewhere";
  }

  async heartbeat(token: string, beat: Heartbeat): Promise<{ cancel: boolean } | Refused> {
    const state = await this.#life.apply({ type: "heartbeat", at: Date.now(), token, beat });
    return "refused" in state ? state : { cancel: state.status === "cancelled" };
  }

  async finish(token: string, result: BuildFinished): Promise<Done | Refused | UploadRefused> {
    const { chores, uid } = this.#life;
    const running = await this.#life.running(token);
    if (running) {
      const made = this.#madeBy(running.attempt);
      if (!made) return { refused: "incomplete" };
      const { installed, ...facts } = result;
      await this.#blobs.put(reportedInstalledKey(uid, running.attempt), JSON.stringify(installed));
      // The lease may have ended by now.
      if (await this.#life.running(token)) chores.keepOutcome({ ...facts, ...made });
    }
    return done(await this.#life.apply({ type: "finished", at: Date.now(), token }));
  }

  /** The results of an attempt. Undefined while something is missing. */
  #madeBy(attempt: number): { artifacts: Artifacts } | Pick<RebuildOutcome, "rebuilt"> | undefined {
    const { uploads, chores } = this.#life;
    if (!chores.isRebuild) {
      const artifacts = uploads.findArtifacts(attempt);
      return artifacts && { artifacts };
    }
    const stated = chores.statedBy(attempt);
    const index = uploads.findStored({ attempt, name: "files-index" });
    if (!stated || (!stated.isSame && !index)) return undefined;
    return { rebuilt: { ...stated, ...(index && { index: { key: index.key, size: index.size } }) } };
  }

  /** Compares the image of a rebuild with the first one. An attempt cannot change its statement. */
  async stateRebuilt(token: string, image: RebuiltImage): Promise<{ same: boolean } | Refused | UploadRefused> {
    const { chores, uid } = this.#life;
    const running = await this.#life.running(token);
    if (!running || !chores.isRebuild) return { refused: "late" };
    const { attempt, agentId } = running;
    const isSame = await isSameImage(this.#db, uid, image);
    if (isSame === undefined) return { refused: "late" };
    const stated = chores.statedBy(attempt) ?? chores.keepStated({ ...image, attempt, agentId, isSame });
    return stated.sha256 === image.sha256 ? { same: stated.isSame } : { refused: "wrong_digest" };
  }

  appendLog(token: string, offset: number, bytes: Uint8Array): Promise<Growth | Refused> {
    const { log, followers } = this.#life;
    return this.#during(token, async (attempt, state) => {
      const from = log.length;
      const nextOffset = log.append(attempt, offset, bytes);
      await followers.sendLog(state, log, from);
      return log.isRead || followers.readLog ? { nextOffset, watched: true } : { nextOffset };
    });
  }

  /** Refused if another attempt has the build, or if the build has ended. */
  check(token: string): Promise<Done | Refused> {
    return this.#during(token, () => ({ done: true }));
  }

  /** If another format of the version has the same file, the agent need not upload it again. */
  openUpload(
    token: string,
    name: ArtifactName,
    { size, digests }: Pick<OpenUpload, "size" | "digests">,
  ): Promise<UploadState | Refused | UploadRefused> {
    const { uploads, uid } = this.#life;
    return this.#during(token, async (attempt) => {
      const of = { attempt, name };
      const shared = uploads.has(of) ? undefined : await shareArtifact(this.#db, uid, { name, size, digests });
      if (shared) uploads.keepShared(of, shared);
      return await uploads.open(uid, of, size);
    });
  }

  /** Returns the upload address for a part. */
  expectPart(token: string, name: ArtifactName, part: Omit<RecordedPart, "etag">) {
    return this.#during(token, (attempt) => this.#life.uploads.expect({ attempt, name }, part));
  }

  recordPart(token: string, name: ArtifactName, part: RecordedPart): Promise<Done | Refused> {
    return this.#during(token, (attempt) => {
      this.#life.uploads.record({ attempt, name }, part);
      return { done: true };
    });
  }

  async completeUpload(
    token: string,
    name: ArtifactName,
    stated: CompleteUpload,
  ): Promise<Done | Refused | UploadRefused> {
    return done(await this.#during(token, (attempt) => this.#life.uploads.complete({ attempt, name }, stated)));
  }

  /** Runs `act` if the token belongs to the running attempt. */
  async #during<Answer>(
    token: string,
    act: (attempt: number, state: RunningState) => Promise<Answer> | Answer,
  ): Promise<Answer | Refused> {
    const running = await this.#life.running(token);
    return running ? await act(running.attempt, running) : { refused: "late" };
  }
}
