import type { BuildWanted } from "#domain/builds/builder-abilities";
import { isOver, isResting, nextWakeUp, type BuildState } from "#domain/builds/machine";
import { attestFinished, momentOf, recordState, type Outcome } from "#domain/builds/record";
import { checkFinished } from "#domain/checks/request";
import type { RebuildOutcome, Stated } from "#domain/builds/rebuilt";
import { announceBuild } from "#domain/events/events";
import { reportLivenessEveryMs, wakeWhenSilent } from "#domain/liveness";
import { writePoint } from "#domain/operation/points";
import { logFailure } from "#log/log";
import { logKey, reportedInstalledKey } from "#storage/blobs";
import { keepInstalled } from "#storage/build-blobs";
import { saveLiveness } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { AgentCalls } from "./agent-calls.ts";
import { retryAfterMs, setAlarmBy } from "./alarm.ts";
import { Announcements } from "./announcements.ts";
import type { BuildLog } from "./build-log.ts";
import type { BuildUploads } from "./build-uploads.ts";

interface Surroundings {
  env: Env;
  storage: DurableObjectStorage;
  /** The uid of the build's row. */
  uid: string;
  log: BuildLog;
  uploads: BuildUploads;
}

/**
 * The consequences of a build's state: updates D1, notifies the queue and the account, and cleans up R2 after the end.
 * Each chore may run twice. Finished steps are recorded, so that a repetition does only the rest.
 */
export class BuildChores {
  readonly #around: Surroundings;
  readonly #announcements: Announcements;
  readonly #agents: AgentCalls;
  /** Consecutive failures. */
  #failures = 0;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#announcements = new Announcements(around.storage.kv);
    this.#agents = new AgentCalls(around.env, around.storage.kv, () => idOfBuild(this.#kv, around.uid));
  }

  get #kv(): SyncKvStorage {
    return this.#around.storage.kv;
  }

  /** The id of the request that started the build, if it is known. */
  get requestId(): string | undefined {
    return this.#kv.get<string>("requestId");
  }

  /** Notes the id of the request that started the build. The first one stays. */
  noteRequest(requestId: string | undefined): void {
    if (requestId !== undefined && this.requestId === undefined) this.#kv.put("requestId", requestId);
  }

  /** Whether the image is only compared with that of an earlier build. */
  get isRebuild(): boolean {
    return this.#kv.get<boolean>("isRebuild") === true;
  }

  noteRebuild(): void {
    this.#kv.put("isRebuild", true);
  }

  /** The statement of a rebuild attempt about its image. */
  statedBy(attempt: number): Stated | undefined {
    const stated = this.#kv.get<Stated>("stated");
    return stated?.attempt === attempt ? stated : undefined;
  }

  keepStated(stated: Stated): Stated {
    this.#kv.put("stated", stated);
    return stated;
  }

  /** Notes the chores of a state. Call it in the same write as the state, so that no crash loses them. */
  note(state: BuildState): void {
    this.#announcements.note(momentOf(state, Date.now()));
  }

  /** Stores the outcome of a finished build, before its state is `finished`. */
  keepOutcome(outcome: Outcome | RebuildOutcome): void {
    this.#kv.put("outcome", outcome);
  }

  /** The build's requirements for an agent. Undefined if it was queued before this was noted. */
  get wanted(): BuildWanted | undefined {
    return this.#agents.wanted;
  }

  /** Notes the build's requirements for an agent. */
  noteWanted(wanted: BuildWanted): void {
    this.#agents.noteWanted(wanted);
  }

  /** Notes that the row already has this state. */
  noteRow(state: BuildState): void {
    this.#kv.put("stored", wordFor(state));
  }

  /** Notes that the row no longer has the state that this object wrote. */
  forgetRow(): void {
    this.#kv.delete("stored");
  }

  get isLivenessDue(): boolean {
    return Date.now() - (this.#kv.get<number>("shownAt") ?? 0) >= reportLivenessEveryMs;
  }

  /**
   * Records in D1 that the build is alive, and the agent that has it. Returns which of the two rows exist; undefined if
   * D1 is unreachable.
   */
  async reportLiveness(agentId: number | null): Promise<{ build: boolean; agent: boolean } | undefined> {
    const { env, uid } = this.#around;
    const at = Date.now();
    this.#kv.put("shownAt", at);
    const life = { wakeAt: wakeWhenSilent(at), agentId, seenAt: new Date(at) };
    return await saveLiveness(openDatabase(env), uid, life).catch(() => undefined);
  }

  /** Does the chores of a state, the slow ones only if `includeSlow` is true, and sets the alarm for the rest. */
  async run(state: BuildState, { includeSlow }: { includeSlow: boolean }): Promise<void> {
    const { uid, storage } = this.#around;
    try {
      await this.#report(state);
      if (includeSlow && isOver(state)) await this.#cleanUp(state);
      this.#failures = 0;
      await setAlarmBy(storage, this.#isTidy(state) ? this.#nextAlarm(state) : Date.now());
    } catch (error) {
      logFailure("could not do a build's chores", error, {
        buildId: idOfBuild(this.#kv, uid),
        requestId: this.requestId,
      });
      this.#failures += 1;
      const retryAt = Date.now() + retryAfterMs(this.#failures);
      await setAlarmBy(storage, Math.min(retryAt, nextWakeUp(state) ?? Infinity));
    }
  }

  async #report(state: BuildState): Promise<void> {
    const { env, uid } = this.#around;
    if (this.#kv.get("stored") !== wordFor(state)) {
      if (state.status === "finished") await keepInstalled(env.BLOBS, uid, state.attempt);
      const services = { env, db: openDatabase(env) };
      await recordState(services, uid, state, this.#kv.get<Outcome | RebuildOutcome>("outcome"));
      if (state.status === "finished") await checkFinished(services, uid);
      this.noteRow(state);
      if (isOver(state)) pointOfEnd(env, state);
      if (state.status === "finished") await env.BLOBS.delete(reportedInstalledKey(uid, state.attempt));
    }
    if (state.status === "queued" && !isResting(state)) await this.#agents.call(state.wakeAgainAt, this.requestId);
    await this.#announcements.send((moment) => announceBuild(env, uid, moment));
  }

  /** Cleans up after the end: moves the log into one blob, and deletes the artifacts of other attempts. */
  async #cleanUp(state: BuildState): Promise<void> {
    const { env, uid, log, uploads } = this.#around;
    await uploads.discardAllBut(state.status === "finished" && !this.isRebuild ? state.attempt : null);
    await attestFinished(env, uid, state).catch((error: unknown) => {
      logFailure("could not make the attestations of a build", error, { build: uid });
    });
    await log.moveTo(logKey(uid));
  }

  #nextAlarm(state: BuildState): number | null {
    const next = nextWakeUp(state);
    const callsAgents = state.status === "queued" && !isResting(state);
    return next !== null && callsAgents ? Math.min(next, this.#agents.nextCallAt) : next;
  }

  #isTidy(state: BuildState): boolean {
    return !isOver(state) || this.#around.log.archive !== undefined;
  }
}

/** Writes a data point for Analytics Engine. A crash may write it twice. */
function pointOfEnd(env: Env, state: BuildState): void {
  writePoint(env, "builds_ended", [state.status, "cause" in state ? (state.cause ?? "") : ""]);
}

/** The build's id, stored when the object starts. Objects created before rows had uids are named by the id. */
export const idOfBuild = (kv: SyncKvStorage, uid: string): number => kv.get<number>("buildId") ?? Number(uid);

/** Identifies a state in D1. */
const wordFor = ({ status, attempt }: BuildState) => `${status} ${attempt}`;
