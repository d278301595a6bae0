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

/** Failed chores are tried again after this. */
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
 * What follows from a build's state: notifies D1, the queue and the account, and cleans up R2 after its end. Each chore may run
 * twice; finished steps are recorded, so that a repetition does only the rest.
 */
export class BuildChores {
  readonly #around: Surroundings;
  readonly #announcements: Announcements;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#announcements = new Announcements(around.kv);
  }

  /** Of the request that started the build; undefined: unknown. */
  get requestId(): string | undefined {
    return this.#around.kv.get<string>("requestId");
  }

  /** The first one stays. */
  noteRequest(requestId: string | undefined): void {
    if (requestId !== undefined && this.requestId === undefined) this.#around.kv.put("requestId", requestId);
  }

  /** Call it in the same write as the state: a crash right after it must not lose the chores. */
  note(state: BuildState): void {
    this.#announcements.note(momentOf(state, Date.now()));
  }

  /** Of a finished build, before its state says so. */
  keepOutcome(outcome: Outcome): void {
    this.#around.kv.put("outcome", outcome);
  }

  /** The row has this state already. */
  rowSays(state: BuildState): void {
    this.#around.kv.put("told", wordFor(state));
  }

  /** The row has another state than this object has written. */
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

  /** Cleans up after a build that is over: makes its log one blob, and deletes the artifacts of other attempts. */
  async tidyUp(state: BuildState): Promise<void> {
    const { env, uid, log, uploads } = this.#around;
    await uploads.discardAllBut(state.status === "finished" ? state.attempt : null);
    await attestFinished(env, uid, state).catch((error: unknown) => {
      logFailure("could not make the attestations of a build", error, { build: uid });
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

/** Stored when the object begins. An object from before rows had uids has the id as its name. */
export const idOfBuild = (kv: SyncKvStorage, uid: string): number => kv.get<number>("buildId") ?? Number(uid);

/** Identifies a state in D1. */
const wordFor = ({ status, attempt }: BuildState) => `${status} ${attempt}`;
