import { join } from "node:path";
import type { BuildClaim, BuildFinished, Phase } from "../contract.ts";
import type { Config } from "../config.ts";
import { FreeSpaceWatch } from "../disk-room.ts";
import { guestOfBuild } from "../guest/means.ts";
import { startHeartbeat, type StopReason } from "../heartbeat.ts";
import type { ImageCache } from "../image-cache.ts";
import { openLogStream, type LogStream } from "../log-stream.ts";
import { logAbout, sentenceOf, type Log } from "../log.ts";
import { reachOf } from "../packages/mirror.ts";
import type { PackageCache } from "../packages/package-cache.ts";
import { StoredPackageFiles } from "../packages/stored-packages.ts";
import type { BaseShare } from "../prepared/base-share.ts";
import type { PreparedCaches } from "../prepared/caches.ts";
import { beginDisk, conditionsOf, joinBases, joinRoots, takeDisk } from "../prepared/of-build.ts";
import type { RootShare } from "../prepared/share.ts";
import { RemoteRefusal } from "../retry.ts";
import { rootOfBuild, toolsOf } from "../roots/of-build.ts";
import type { StoredRoot } from "../roots/store.ts";
import { openWorkDir } from "../work-dir.ts";
import type { Lease } from "../lease.ts";
import type { WorkerApi } from "../worker-api.ts";
import { compareImage, Delivery, linesAbout, scanned } from "./artifacts.ts";
import { earlierDisk } from "./delta.ts";
import { differenceOf, linesOf, remarkOf } from "./difference.ts";
import { buildImage, type BuiltImage } from "./image.ts";
import { findingLine, ownLine } from "./log-line.ts";
import type { PackedImage } from "./pack.ts";
import { advance, heartbeatOf, startProgress, stepsOf, type ProgressEvent } from "./progress.ts";
import type { KiwiResult } from "./result.ts";
import { withServices } from "./boot-services.ts";
import { hidingPaths } from "./hidden-paths.ts";
import { isReported, Stopped, endReason } from "./end-reason.ts";

export interface BuildParts {
  api: WorkerApi;
  config: Config;
  cache: ImageCache;
  packageCache?: PackageCache | undefined;
  /** Undefined if nothing is cached for other formats. */
  prepared?: PreparedCaches | undefined;
  /** KIWI's version on this host. */
  builder: string;
  /** Called when a phase begins. */
  onPhase?: (phase: Phase) => void;
  log: Log;
}

export interface RunningBuild {
  buildId: number;
  stop(reason: StopReason): void;
  /** Never rejects. The result is reported to the Worker and to the log. */
  done: Promise<void>;
}

/** Runs a build until its image is uploaded, its failure is reported, or it is returned to the Worker. */
export function startBuild(claim: BuildClaim, parts: BuildParts): RunningBuild {
  const work = new BuildWork(claim, parts);
  const limit = setTimeout(() => work.stop("time_limit"), claim.timeLimitMs);
  const done = work.run().finally(() => clearTimeout(limit));
  return { buildId: claim.buildId, stop: (reason) => work.stop(reason), done };
}

/**
 * How long the agent tries to report a failure. If the Worker is unreachable, it notices the failure when the lease
 * ends.
 */
const lastWordsMs = 90_000;
const releaseMs = 3_000;

class BuildWork {
  readonly #claim: BuildClaim;
  readonly #parts: BuildParts;
  readonly #stopping = new AbortController();
  /** Aborted when the log is no longer needed. A build that took too long still sends its log. */
  readonly #logging = new AbortController();
  readonly #lease: Lease;
  /** Rewrites paths of this host for the owner, as soon as there is a work directory. */
  #hidePaths = (text: string): string => text;
  #stopReason: StopReason | undefined;
  #progress;
  /** Whether the Worker knows how this attempt ended, or no longer needs to know. */
  #isReported = false;

  constructor(claim: BuildClaim, parts: BuildParts) {
    this.#claim = claim;
    const { buildId, attempt, requestId } = claim;
    this.#parts = { ...parts, log: logAbout(parts.log, { buildId, attempt, requestId }) };
    this.#lease = { id: buildId, token: claim.token, requestId };
    this.#progress = startProgress(claim.earlierPhases, Date.now());
  }

  stop(reason: StopReason): void {
    if (this.#stopReason !== undefined) return;
    this.#stopReason = reason;
    if (!isReported(reason)) this.#logging.abort();
    this.#stopping.abort(new Stopped(reason));
  }

  async run(): Promise<void> {
    const { config, log } = this.#parts;
    using space = new FreeSpaceWatch(config.stateDir);
    log("build starts", { type: this.#claim.input.imageType });
    try {
      await this.#inWorkDir(space);
      log("build finished", { seconds: Math.round(this.#seconds()) });
    } catch (error) {
      if (!this.#isReported) await this.#explain(error, space);
      log("build ended", { reason: sentenceOf(error) });
    }
  }

  async #inWorkDir(space: FreeSpaceWatch): Promise<void> {
    const { config, log } = this.#parts;
    await using dir = await openWorkDir(config.stateDir, `build-${this.#claim.buildId}-${this.#claim.attempt}`, log);
    const lines = await this.#openLog(dir.path);
    await using heartbeat = startHeartbeat({
      send: (beat, signal) => this.#parts.api.heartbeat(this.#lease, beat, signal),
      beat: () => heartbeatOf(this.#advance({ type: "time", at: Date.now() })),
      onStop: (reason) => this.stop(reason),
      log,
    });
    const emit = (event: ProgressEvent) => {
      const { percent, phase } = this.#progress;
      const next = this.#advance(event);
      if (next.phase !== phase) this.#begin(next.phase, lines);
      if (next.phase !== phase || next.percent !== percent) heartbeat.nudge();
    };
    try {
      await this.#make(dir.path, lines, emit);
    } catch (error) {
      await this.#explain(error, space, lines);
      throw error;
    }
  }

  #begin(phase: Phase, lines: LogStream): void {
    lines.write(ownLine(phase, new Date()));
    this.#parts.onPhase?.(phase);
  }

  async #make(workDir: string, lines: LogStream, emit: (event: ProgressEvent) => void): Promise<void> {
    const { input, isRebuild = false, takesDelta = false } = this.#claim;
    const { signal } = this.#stopping;
    const enter = (phase: Phase) => emit({ type: "phase", phase, at: Date.now() });

    const builderRoot = await rootOfBuild({ ...this.#parts.config, workDir }, input);
    const { facts, key, said } = toolsOf(builderRoot, this.#parts);
    lines.write(ownLine(`building ${input.imageName} with ${said}`, new Date()));
    enter("Preparing the build");
    const onNote = (note: string) => lines.write(ownLine(note, new Date()));
    const context = { workDir, signal, onNote };
    // A rebuild that started from cached results of the first build would prove nothing.
    const prepared = isRebuild ? undefined : this.#parts.prepared;
    const parts = { ...this.#parts, prepared, builder: key };
    const taken = await takeDisk(this.#claim, parts, context);
    using share = taken ? undefined : await joinRoots(this.#claim, parts, context);
    const base = taken || share?.archive !== undefined ? undefined : await joinBases(this.#claim, parts, context);
    const toStore = { api: this.#parts.api, lease: this.#lease, signal, onNote };
    await using stored = new StoredPackageFiles(toStore);
    await using delivery = new Delivery({
      workDir,
      signal,
      artifact: isRebuild ? undefined : (name, until) => this.#parts.api.artifact(this.#lease, name, until),
      earlier: takesDelta ? () => earlierDisk(this.#parts.api, { lease: this.#lease, signal, onNote }) : undefined,
      onPacked: () => enter("Uploading the image"),
      onDone: (fraction) => emit({ type: "done", fraction, at: Date.now() }),
    });
    const built =
      taken ??
      (await this.#build(workDir, { builder: facts.builder, builderRoot, share, base, stored, delivery, lines, emit }));
    await using slot = await beginDisk(this.#claim, parts, built, context);
    const difference = differenceOf(input.packages, built.installed);
    for (const line of difference ? linesOf(difference) : []) lines.write(ownLine(line, new Date()));
    const { shared, services } = "store" in built ? built.store : await scanned(built.root, input, signal);
    for (const line of shared) lines.write(findingLine(line, new Date()));
    enter("Compressing the image");
    const artifacts = await delivery.deliver(built, input.imageName);
    for (const line of linesAbout(artifacts)) lines.write(ownLine(line, new Date()));
    await slot?.publish({ ...artifacts.store, shared, services });
    const given = await share?.give();
    await stored.sent();
    if (isRebuild) onNote(await compareImage(artifacts, toStore));
    await lines.close();
    signal.throwIfAborted();
    const remark = difference && remarkOf(difference);
    const more = { ...facts, conditions: conditionsOf(this.#parts.config, [taken, share, base]) };
    const kept = { ...(remark && { remark }), ...(given && { prepared: given }) };
    const installed = withServices(built.installed, services);
    await this.#finish({ ...built, installed }, artifacts.image, { ...more, ...kept });
  }

  async #build(
    workDir: string,
    { builder, builderRoot, share, base, stored, delivery, lines, emit }: Partners,
  ): Promise<BuiltImage> {
    const { api, config, packageCache } = this.#parts;
    await using guest = config.isolation === "vm" ? await guestOfBuild(config, this.#claim) : undefined;
    return await buildImage(this.#claim.input, {
      kiwi: config.kiwi,
      builder,
      builderRoot,
      share,
      base,
      storeAhead: (root) => delivery.storeAhead(root),
      guest,
      workDir,
      reach: reachOf(config, {
        credentials: api.credentials(this.#lease),
        buildUrl: `${config.url}/agent/builds/${this.#claim.buildId}`,
      }),
      packageCache,
      stored,
      signal: this.#stopping.signal,
      onLine: (line) => {
        lines.write(line);
        emit({ type: "line", line, at: Date.now() });
      },
      onPhase: (phase) => emit({ type: "phase", phase, at: Date.now() }),
      onProgress: (fraction) => emit({ type: "done", fraction, at: Date.now() }),
    });
  }

  async #finish(
    built: KiwiResult,
    packed: PackedImage,
    more: Pick<BuildFinished, "builder" | "builderRoot" | "conditions" | "remark" | "prepared">,
  ): Promise<void> {
    const { api, cache } = this.#parts;
    // Cached before the Worker is notified, so that a testdrive which is claimed right afterwards needs no download.
    if (packed.bootable && !this.#claim.isRebuild) {
      const { path, format } = packed.bootable;
      const cached = await cache.put(this.#claim.buildId, packed.digests.sha256, path, format);
      cached.release();
    }
    const { fileName, compressed, diskSha256 } = packed;
    const { rawSize, installed } = built;
    const steps = stepsOf(this.#advance({ type: "time", at: Date.now() }));
    const report = { fileName, compressed, rawSize, diskSha256, installed, steps, ...more };
    await api.finish(this.#lease, report, this.#stopping.signal);
    this.#isReported = true;
  }

  /**
   * Reports to the Worker why there will be no image, unless it knows already. Without a work directory there is no
   * log.
   */
  async #explain(why: unknown, space: FreeSpaceWatch, lines?: LogStream): Promise<void> {
    const { api, log } = this.#parts;
    this.#isReported = true;
    const stop = this.#stopReason;
    const isLate = why instanceof RemoteRefusal && why.status === 410;
    if (stop === "released") {
      const released = api.release(this.#lease, AbortSignal.timeout(releaseMs));
      await released.catch((lost: unknown) => log("could not release the build", { reason: sentenceOf(lost) }));
    }
    const isNews = !isLate && (stop === undefined || isReported(stop));
    const { kind, reason } = await endReason(why, { timeLimitMs: this.#claim.timeLimitMs, space });
    const failure = { kind, reason: this.#hidePaths(reason) };
    if (isNews) lines?.write(ownLine(failure.reason, new Date()));
    await lines?.close();
    if (!isNews) return;
    const sent = api.fail(this.#lease, failure, AbortSignal.timeout(lastWordsMs));
    await sent.catch((lost: unknown) => log("could not report the failure", { reason: sentenceOf(lost) }));
  }

  async #openLog(workDir: string): Promise<LogStream> {
    const { api, config, log } = this.#parts;
    const stream = await openLogStream({
      file: join(workDir, "build.log"),
      send: (offset, bytes) => api.sendLog(this.#lease, offset, bytes, this.#logging.signal),
      onFailure: (error) =>
        this.#logging.signal.aborted || log("could not send the log", { reason: sentenceOf(error) }),
    });
    this.#hidePaths = hidingPaths({ workDir, stateDir: config.stateDir });
    return { write: (line) => stream.write(this.#hidePaths(line)), close: () => stream.close() };
  }

  #advance(event: ProgressEvent) {
    return (this.#progress = advance(this.#progress, event));
  }

  #seconds(): number {
    return stepsOf(this.#progress).reduce((sum, step) => sum + step.seconds, 0);
  }
}

/** The objects that a build passes to its KIWI run. */
interface Partners {
  /** KIWI's version. */
  builder: string;
  builderRoot: StoredRoot | undefined;
  share: RootShare | undefined;
  base: BaseShare | undefined;
  stored: StoredPackageFiles;
  delivery: Delivery;
  lines: LogStream;
  emit: (event: ProgressEvent) => void;
}
