import { isOver, type BuildState } from "#domain/builds/machine";
import { attestFinished, momentOf, tellDatabase, type Outcome } from "#domain/builds/record";
import { announceBuild } from "#domain/events/events";
import { sendJob } from "#domain/jobs";
import { writePoint } from "#domain/operation/points";
import { logFailure } from "#log/log";
import { logKey } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { Announcements } from "./announcements.ts";
import type { BuildLog } from "./build-log.ts";
import type { BuildUploads } from "./build-uploads.ts";

/** Chores that failed are tried again after this. */
export const retryMs = 5_000;

interface Surroundings {
  env: Env;
  kv: SyncKvStorage;
  /** The row's. */
  uid: string;
  log: BuildLog;
  uploads: BuildUploads;
}

/**
 * What follows from a build's state: D1, the queue and the account are notified, and R2 is cleaned up after its end. Each chore may
 * run twice; what was done is remembered, so that a repetition does the rest alone.
 */
export class BuildChores {
  readonly #around: Surroundings;
  readonly #announcements: Announcements;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#announcements = new Announcements(around.kv);
  }

  /** Of the request that started the build; undefined: not known. */
  get requestId(): string | undefined {
    return this.#around.kv.get<string>("requestId");
  }

  /** The first one stays. */
  noteRequest(requestId: string | undefined): void {
    if (requestId !== undefined && this.requestId === undefined) this.#around.kv.put("requestId", requestId);
  }

  /** To be called in the same write as the state: a crash right after it must not lose the chores. */
  note(state: BuildState): void {
    this.#announcements.note(momentOf(state, Date.now()));
  }

  /** Of a finished build, before its state says so. */
  keepOutcome(outcome: Outcome): void {
    this.#around.kv.put("outcome", outcome);
  }

  /** The row says this already. */
  rowSays(state: BuildState): void {
    this.#around.kv.put("told", wordFor(state));
  }

  /** The row does not say what this object has written. */
  rowSaysOther(): void {
    this.#around.kv.delete("told");
  }

  async tell(state: BuildState): Promise<void> {
    const { env, kv, uid } = this.#around;
    if (kv.get("told") !== wordFor(state)) {
      await tellDatabase(openDatabase(env.DB), uid, state, kv.get<Outcome>("outcome"));
      this.rowSays(state);
      if (isOver(state)) pointOfEnd(env, state);
    }
    if (state.status === "queued" && kv.get("wokenFor") !== state.wakeAgainAt) {
      const { requestId } = this;
      await sendJob(env, { kind: "build", buildId: idOfBuild(kv, uid), ...(requestId !== undefined && { requestId }) });
      kv.put("wokenFor", state.wakeAgainAt);
    }
    await this.#announcements.send((moment) => announceBuild(env, uid, moment));
  }

  /** What is left of a build that is over: its log as one blob, and in R2 the artifacts of the attempt that won alone. */
  async tidyUp(state: BuildState): Promise<void> {
    const { env, uid, log, uploads } = this.#around;
    await uploads.discardAllBut(state.status === "finished" ? state.attempt : null);
    await attestFinished(env, uid, state).catch((error: unknown) => {
      logFailure("no attestations of a build", error, { build: uid });
    });
    await log.moveTo(logKey(uid));
  }

  isTidy(state: BuildState): boolean {
    return !isOver(state) || this.#around.log.archive !== undefined;
  }
}

/** For Analytics Engine; a crash may write it twice. */
function pointOfEnd(env: Env, state: BuildState): void {
  writePoint(env, "builds_ended", [state.status, "cause" in state ? (state.cause ?? "") : ""]);
}

/** Noted when the object begins; one from before rows had uids has the id for a name. */
export const idOfBuild = (kv: SyncKvStorage, uid: string): number => kv.get<number>("buildId") ?? Number(uid);

/** What D1 knows a state by. */
const wordFor = ({ status, attempt }: BuildState) => `${status} ${attempt}`;
