import { isLacking, withNewlyFound } from "./abilities.ts";
import type { Config } from "./config.ts";
import type { AgentNotice, AgentReport, Capabilities } from "./contract.ts";
import { DiskRoom } from "./disk-room.ts";
import { hostReport } from "./host-report.ts";
import type { ImageCache } from "./image-cache.ts";
import { logAbout, sentenceOf, type Log } from "./log.ts";
import { EndedDisks } from "./modified/ended-disks.ts";
import type { PackageCache } from "./packages/package-cache.ts";
import type { PreparedCaches } from "./prepared/caches.ts";
import type { Message, PullQueue } from "./queue.ts";
import { listRoots } from "./roots/store.ts";
import { RunningBuilds } from "./running-builds.ts";
import { Snapshots } from "./snapshot/snapshots.ts";
import { keepSocket } from "./socket.ts";
import { runTestdrive } from "./testdrive/run-testdrive.ts";
import { reserveVnc } from "./testdrive/vnc-port.ts";
import { Unasked } from "./unasked.ts";
import { kinds, newWaker, pollDelayMs, type Kind } from "./waker.ts";
import type { WorkerApi } from "./worker-api.ts";

export interface AgentParts {
  config: Config;
  capabilities: Capabilities;
  /** Examines the host once more. */
  examine: () => Promise<Capabilities>;
  api: WorkerApi;
  queue: PullQueue;
  cache: ImageCache;
  packageCache?: PackageCache | undefined;
  prepared?: PreparedCaches | undefined;
  log: Log;
  /** The delay before the host is examined again if something is missing. It doubles each time. */
  examineAfterMs?: number;
  /** Once aborted, the agent takes no new work, and ends when its running work has ended. */
  draining?: AbortSignal;
}

/**
 * Pulls from the queue, and claims and runs work, until `signal` is aborted. Then it gives back all running work
 * immediately. A message or a notice is only a hint: the work is in the answer to the claim.
 */
export async function runAgent(parts: AgentParts, signal: AbortSignal): Promise<void> {
  const waker = newWaker();
  const work = new Work(parts, signal, (kind) => waker.wake(kind));
  const onNotice = (notice: AgentNotice) =>
    notice.type === "cancel" ? work.cancel(notice.buildId) : waker.wake(notice.kind);
  waker.wake(); // work may have waited longer than its messages live
  parts.draining?.addEventListener("abort", () => {
    waker.wake();
    work.changes.dispatchEvent(new Event("change"));
  });
  const drained = new AbortController();
  const ended = AbortSignal.any([signal, drained.signal]);
  const watch = work.keepDiskFloor(ended);
  const socket = keepSocket(
    {
      dial: () => parts.api.openSocket(),
      onNotice,
      report: () => work.report(),
      changes: work.changes,
      onConnection: (isOpen) => (work.isConnected = isOpen),
      log: parts.log,
    },
    ended,
  );
  let idlePulls = 0;
  while (!ended.aborted) {
    if (parts.draining?.aborted) {
      if (work.isIdle) drained.abort();
      else await waker.wait(pollDelayMs(Infinity), ended);
      waker.taken();
      continue;
    }
    const found = await work.look({ woken: waker.taken() }).catch((error: unknown) => {
      if (!signal.aborted) parts.log("could not look for work", { reason: sentenceOf(error) });
      return false;
    });
    idlePulls = found ? 0 : idlePulls + 1;
    await waker.wait(pollDelayMs(idlePulls), ended);
  }
  await Promise.all([work.stop(), socket, watch]);
}

/** The result of a claim. "not_now" means that the message is for another agent, or for later. */
type Claimed = "claimed" | "nothing" | "not_now";

class Work {
  readonly #parts: AgentParts;
  /** The abilities of the host at its last examination. */
  #capabilities: Capabilities;
  #roots: string | undefined;
  readonly #again: { everyMs: number; at: number };
  readonly #signal: AbortSignal;
  readonly #onEnd: (kind: Kind) => void;
  /** Emits "change" when the report has other free slots, or other abilities. */
  readonly changes = new EventTarget();
  isConnected = false;
  readonly #unasked = new Unasked();
  readonly #builds: RunningBuilds;
  readonly #testdrives = new Set<Promise<void>>();
  readonly #room: DiskRoom;
  readonly #snapshots: Snapshots;
  readonly #endedDisks: EndedDisks;

  constructor(parts: AgentParts, signal: AbortSignal, onEnd: (kind: Kind) => void) {
    this.#parts = parts;
    this.#capabilities = parts.capabilities;
    const everyMs = parts.examineAfterMs ?? examineAfterMs.first;
    this.#again = { everyMs, at: Date.now() + everyMs };
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.#builds = new RunningBuilds(parts.config.slots, () => {
      this.#reportChange();
      onEnd("build");
    });
    const { prepared, cache, packageCache } = parts;
    this.#endedDisks = new EndedDisks(parts.config);
    this.#room = new DiskRoom({
      ...parts,
      caches: [prepared?.bases, prepared?.roots, prepared?.disks, cache, packageCache, this.#endedDisks],
    });
    this.#snapshots = new Snapshots({ ...parts, signal });
  }

  /** Pulls once, and claims for each message and each other `woken` kind of work. Returns whether there was work. */
  async look({ woken }: { woken: ReadonlySet<Kind> }): Promise<boolean> {
    const before = JSON.stringify(this.#can);
    try {
      return await this.#look(woken);
    } finally {
      if (before !== JSON.stringify(this.#can)) this.#reportChange();
    }
  }

  async #look(woken: ReadonlySet<Kind>): Promise<boolean> {
    const hasOtherAbilities = (await this.#findOtherRoots()) || (await this.#findWhatWasMissing());
    const free = this.#free("build") + this.#free("testdrive");
    if (free === 0) return false;
    const { queue } = this.#parts;
    const messages = await queue.pull(Math.min(free, 10), this.#signal);
    const done: Message[] = [];
    const later: Message[] = [];
    const claimed = new Set<Kind>();
    for (const message of messages) {
      const answer = message.job === null ? "nothing" : await this.#claim(message.job.kind);
      (answer === "not_now" ? later : done).push(message);
      if (answer === "claimed" && message.job) claimed.add(message.job.kind);
    }
    await queue.acknowledge(done, later, this.#signal);
    // After work has ended, or when there was no room before, the messages of waiting work may have expired.
    const isDue =
      hasOtherAbilities || (await this.#room.isBack(this.#builds.inSlots)) || this.#unasked.isDue(this.isConnected);
    const asked = messages.map((each) => each.job?.kind);
    const { unanswered } = this.#unasked;
    const unasked = kinds.filter((kind) => (isDue || woken.has(kind) || unanswered.has(kind)) && !asked.includes(kind));
    for (const kind of unasked) if ((await this.#claim(kind)) === "claimed") claimed.add(kind);
    // The pool counts a slot as taken when it wakes an agent, and another agent may have been faster.
    if ([...woken].some((kind) => !claimed.has(kind))) this.#reportChange();
    return claimed.size > 0;
  }

  cancel(buildId: number): void {
    this.#builds.cancel(buildId);
  }

  get isIdle(): boolean {
    return this.#builds.isEmpty && this.#testdrives.size === 0;
  }

  /** Stops the newest build when the disk is almost full. Runs until the agent stops. */
  async keepDiskFloor(signal: AbortSignal): Promise<void> {
    await this.#room.keepFloor(() => this.#builds.newest, signal);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#builds.release(), ...this.#testdrives]);
    await this.#snapshots.settled();
  }

  /** The report that is sent on the socket. The Worker uses it to choose the agent to wake. */
  async report(): Promise<AgentReport> {
    const host = await hostReport(this.#parts.config);
    return { ...host, free: { builds: this.#free("build"), testdrives: this.#free("testdrive") }, can: this.#can };
  }

  get #can(): Capabilities {
    return { ...this.#capabilities, ...(!this.#room.wasEnough && { hasRoom: false }) };
  }

  #reportChange(): void {
    this.changes.dispatchEvent(new Event("change"));
  }

  #free(kind: Kind): number {
    const { config, draining } = this.#parts;
    if (draining?.aborted) return 0;
    const { testdrives, imageTypes, roots = [] } = this.#capabilities;
    if (kind === "testdrive") return testdrives ? config.testdriveSlots - this.#testdrives.size : 0;
    const builds = [imageTypes, ...roots.map((root) => root.imageTypes)].some((types) => types.length > 0);
    return builds ? config.slots - this.#builds.inSlots : 0;
  }

  /** Whether the operator has made or removed builder roots since the last check. The next claim reports it. */
  async #findOtherRoots(): Promise<boolean> {
    const { config, examine, log } = this.#parts;
    const roots = (await listRoots(config.stateDir)).map(({ sha256 }) => sha256).join(" ");
    const before = this.#roots;
    this.#roots = roots;
    if (before === undefined || before === roots) return false;
    this.#capabilities = await examine();
    log("builder roots have changed", { roots: this.#capabilities.roots?.map(({ name }) => name).join(",") });
    return true;
  }

  /**
   * Checks again for what was missing: it may exist now, or its probe may have been killed. The next claim reports it.
   */
  async #findWhatWasMissing(): Promise<boolean> {
    const { examine, log } = this.#parts;
    if (!isLacking(this.#capabilities) || Date.now() < this.#again.at) return false;
    const before = JSON.stringify(this.#capabilities);
    this.#capabilities = withNewlyFound(this.#capabilities, await examine());
    this.#again.everyMs = Math.min(examineAfterMs.most, 2 * this.#again.everyMs);
    this.#again.at = Date.now() + this.#again.everyMs;
    if (before === JSON.stringify(this.#capabilities)) return false;
    const { imageTypes, testdrives } = this.#capabilities;
    log("this host can do more than before", { imageTypes: imageTypes.join(","), testdrives });
    return true;
  }

  async #claim(kind: Kind): Promise<Claimed> {
    if (this.#free(kind) <= 0) return "not_now";
    try {
      const claimed = await (kind === "build" ? this.#claimBuild() : this.#claimTestdrive());
      this.#unasked.unanswered.delete(kind);
      return claimed;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#unasked.unanswered.add(kind);
      this.#parts.log("could not claim work", { kind, reason: sentenceOf(error) });
      return "not_now";
    }
  }

  /** Claims even if there is no room: the Worker then returns no build, but can show why its builds wait. */
  async #claimBuild(): Promise<Claimed> {
    const { api } = this.#parts;
    const capabilities = this.#capabilities;
    const hasRoom = await this.#room.isEnough(this.#builds.inSlots);
    const claim = await api.claimBuild({ ...capabilities, hasRoom }, this.#signal);
    if (claim === null) return hasRoom ? "nothing" : "not_now";
    this.#builds.start(claim, { ...this.#parts, builder: capabilities.builder });
    this.#reportChange();
    return "claimed";
  }

  async #claimTestdrive(): Promise<Claimed> {
    const { api, config, cache } = this.#parts;
    const reserved = await reserveVnc(config);
    const vnc = reserved === null ? null : { host: reserved.host, port: reserved.port };
    const { machines } = this.#capabilities;
    const claim = await api.claimTestdrive({ vnc, machines }, this.#signal).catch(async (error: unknown) => {
      await reserved?.release();
      throw error;
    });
    if (claim === null) {
      await reserved?.release();
      return "nothing";
    }
    const { testdriveId, buildId, requestId } = claim;
    const log = logAbout(this.#parts.log, { testdriveId, requestId });
    log("testdrive starts", { buildId });
    const run = runTestdrive(claim, reserved, {
      api,
      config,
      cache,
      room: this.#room,
      log,
      endedDisks: this.#endedDisks,
      snapshots: this.#snapshots,
      signal: this.#signal,
    })
      .catch((error: unknown) => log("testdrive failed", { reason: sentenceOf(error) }))
      .finally(() => {
        this.#testdrives.delete(run);
        this.#reportChange();
        this.#onEnd("testdrive");
      });
    this.#testdrives.add(run);
    this.#reportChange();
    return "claimed";
  }
}

const examineAfterMs = { first: 60_000, most: 60 * 60_000 };
