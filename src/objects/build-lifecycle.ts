import { wantedOf } from "#domain/agent-pool";
import { agentsSeen } from "#domain/builds/agents-seen";
import {
  advance,
  isHeldBy,
  nextWakeUp,
  queued,
  type BuildEvent,
  type BuildState,
  type Refused,
  type RunningState,
} from "#domain/builds/machine";
import { longQueueMs, type AgentsSeen } from "#domain/builds/why-waiting";
import type { Arch } from "#lib/contract/index";
import { forRequest } from "#log/request-id";
import { findBuildWithArch, isUnfinished, type Build as Row } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { retryMs } from "./alarm.ts";
import { BuildChores, idOfBuild } from "./build-chores.ts";
import { BuildFollowers } from "./build-followers.ts";
import { BuildLog } from "./build-log.ts";
import { BuildUploads } from "./build-uploads.ts";

/**
 * A build's state, from its row to its end: loads, advances and saves it, and sets the one alarm. Chores notify D1, the
 * queue and R2; they may run twice, and the alarm repeats them until they succeed.
 */
export class BuildLifecycle {
  readonly log: BuildLog;
  readonly uploads: BuildUploads;
  readonly chores: BuildChores;
  readonly followers: BuildFollowers;
  readonly #storage: DurableObjectStorage;
  readonly #env: Env;
  /** The uid of the build's row. */
  readonly uid: string;
  #settled: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage, id } = ctx;
    this.#storage = storage;
    this.#env = env;
    this.uid = id.name ?? "";
    this.log = new BuildLog(storage, env.BLOBS);
    this.followers = new BuildFollowers(ctx);
    this.uploads = new BuildUploads(storage.sql, env.BLOBS);
    this.chores = new BuildChores({ env, storage, uid: this.uid, log: this.log, uploads: this.uploads });
  }

  /** The build's id. Available once the row has been read. */
  get id(): number {
    return idOfBuild(this.#storage.kv, this.uid);
  }

  get state(): BuildState | undefined {
    return this.#storage.kv.get<BuildState>("state");
  }

  async load(): Promise<BuildState | undefined> {
    const known = this.state;
    if (known) return known;
    const row = await findBuildWithArch(openDatabase(this.#env), this.uid);
    if (!row || !isUnfinished(row)) return undefined;
    // Another call may have begun while this one read from D1.
    return this.state ?? this.#begin(row);
  }

  #begin(row: Row & { arch: Arch }): BuildState {
    this.#storage.kv.put("buildId", row.id);
    if (row.rebuildOf !== null) this.chores.noteRebuild();
    this.chores.noteWanted(wantedOf(row));
    this.log.makeTables();
    this.uploads.makeTables();
    const state = queued(Date.now());
    if (row.status === "queued") this.chores.noteRow(state);
    return this.#save(state);
  }

  /** Applies the passage of time, and does the chores that are left. */
  async wakeUp(): Promise<void> {
    if ((await this.load())?.status === "queued" && this.chores.isLivenessDue) await this.reportLiveness();
    const state = this.state;
    if (!state) return;
    const isLong = state.status === "queued" && Date.now() - state.queuedAt >= longQueueMs;
    const agents = isLong ? await this.#agentsSeen() : "unknown";
    const isCutOff = state.status === "running" && Date.now() >= state.leaseEndsAt && !(await this.reportLiveness());
    await this.apply({ type: "woke_up", at: Date.now(), agents, isCutOff });
    await this.settle({ includeSlow: true });
  }

  async #agentsSeen(): Promise<AgentsSeen> {
    const { wanted } = this.chores;
    if (!wanted) return "unknown";
    return await agentsSeen({ env: this.#env, db: openDatabase(this.#env) }, wanted).catch(() => "unknown" as const);
  }

  /**
   * Returns false if D1 is unreachable. Cancels a build whose row is missing from a restored database: its image is
   * unused, and its id is reused.
   */
  async reportLiveness(): Promise<boolean> {
    const state = this.state;
    const agentId = state?.status === "running" ? state.agentId : null;
    const found = await this.chores.reportLiveness(agentId);
    if (found?.build === false) await this.apply({ type: "cancelled", at: Date.now() });
    if (found?.agent === false && agentId !== null)
      await this.apply({ type: "agent_removed", at: Date.now(), agentId });
    return found !== undefined;
  }

  async running(token: string): Promise<RunningState | undefined> {
    const state = await this.load();
    return isHeldBy(state, token) ? state : undefined;
  }

  async apply(event: BuildEvent): Promise<BuildState | Refused> {
    const state = await this.load();
    if (!state) return { refused: "late" };
    const next = advance(state, event);
    if ("refused" in next || next === state) return next;
    this.#save(next);
    // Chores need D1, and a lease must not.
    if (event.type !== "heartbeat") await this.settle();
    return next;
  }

  #save(state: BuildState): BuildState {
    const before = this.state;
    this.#storage.kv.put("state", state);
    this.chores.note(state);
    this.followers.sendState(state, this.log);
    // A heartbeat needs no chores, and the current alarm fires before the new lease ends.
    if (before?.status === "running" && state.status === "running" && before.attempt === state.attempt) return state;
    // The alarm is set in the same write as the state, so it does the chores if a crash comes right after that.
    void this.#storage.setAlarm(Math.min(Date.now() + retryMs, nextWakeUp(state) ?? Infinity));
    return state;
  }

  /** Runs the chores one after the other. */
  settle(which: { includeSlow: boolean } = { includeSlow: false }): Promise<void> {
    const run = () =>
      forRequest(this.chores.requestId, async () => this.state && (await this.chores.run(this.state, which)));
    this.#settled = this.#settled.then(run, run);
    return this.#settled;
  }

  /** Waits for the chores in progress, and aborts uploads. The caller deletes the blobs. May run twice. */
  async end(): Promise<void> {
    // Chores that failed are not repeated, because the state is deleted.
    await this.#settled.catch(() => undefined);
    if (this.state) await this.uploads.abortIncomplete();
  }
}
