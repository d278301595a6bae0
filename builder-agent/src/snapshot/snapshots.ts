import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { imageFormats, type TestdriveClaim } from "../contract.ts";
import { freeBytes } from "../disk-room.ts";
import { hostKey } from "../host-key.ts";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { leaseOfTestdrive } from "../lease.ts";
import { sentenceOf, type Log } from "../log.ts";
import type { SessionApi } from "../session-api.ts";
import { makeDrives } from "../testdrive/disk.ts";
import { machineArguments, type Machine } from "../testdrive/machine.ts";
import { startQemu, type Qemu, type QemuStart } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { isFresh, openSnapshot } from "./files.ts";
import { makeSnapshot, type SnapshotJob } from "./make-snapshot.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

export interface SnapshotMeans {
  config: Pick<Config, "stateDir" | "snapshots">;
  cache: ImageCache;
  api: Pick<SessionApi, "sendScreen">;
  log: Log;
  /** Aborted when the agent stops. */
  signal: AbortSignal;
  /** Shorter in tests. */
  limits?: SnapshotJob["limits"];
}

/** A machine to start, and the image of its drives. */
export interface Boot {
  claim: Pick<
    TestdriveClaim,
    "buildId" | "imageType" | "arch" | "image" | "wantsScreen" | "testdriveId" | "token" | "requestId"
  >;
  image: CachedImage;
  machine: Machine;
  dir: SessionDir;
  start: QemuStart;
}

/** The number of times to try an image that does not reach its prompt, or does not continue from it. */
const maxTries = 3;
/** Left free for QEMU itself and for other programs on the host. */
const spareMemoryMb = 512;

/** Starts sessions from snapshots of booted guests, and makes missing snapshots one at a time in the background. */
export class Snapshots {
  readonly #means: SnapshotMeans;
  /** Attempts by key since a session last started from that snapshot. */
  readonly #tries = new Map<string, number>();
  readonly #wanted = new Set<string>();
  #making: Promise<void> = Promise.resolve();

  constructor(means: SnapshotMeans) {
    this.#means = means;
  }

  /** Starts the machine: from a snapshot of the booted guest if there is one, otherwise by booting. */
  async start(boot: Boot): Promise<Qemu> {
    const { claim, machine, dir, start } = boot;
    if (!this.#canMake(boot)) return await startQemu(machine, dir, start);
    // A guest on a network must have its own keys, and one with a seed must read it at its first boot. Variables of a
    // firmware are part of no snapshot.
    const alone = { ...machine, hasNetwork: false, seed: [], firmware: undefined };
    const isOwn = machine.hasNetwork || machine.seed.length > 0 || machine.firmware !== undefined;
    const key = await snapshotKey(alone);
    const restored = isOwn ? undefined : await this.#restore(key, boot);
    const qemu = restored ?? (await startQemu(machine, dir, start));
    const wantsSnapshot = !restored && !isOwn;
    if (wantsSnapshot || claim.wantsScreen) this.#want(key, { ...boot, machine: alone });
    return qemu;
  }

  /** Settles when nothing is being made. */
  async settled(): Promise<void> {
    await this.#making;
  }

  /**
   * Whether a snapshot is possible: an installation medium has no prompt to wait for, and a machine for arm64 does not
   * start without its firmware.
   */
  #canMake({ claim: { imageType, arch } }: Boot): boolean {
    return (
      this.#means.config.snapshots === "on" && arch !== "aarch64" && imageFormats[imageType].product !== "installer"
    );
  }

  async #restore(key: string, { claim, image, machine, dir, start }: Boot): Promise<Qemu | undefined> {
    const { cache, log } = this.#means;
    const { buildId, imageType } = claim;
    const snapshot = await cache.findSnapshot(image, key);
    if (snapshot === undefined) return undefined;
    const startedAt = performance.now();
    try {
      if (!(await isFresh(snapshot))) throw new Error("it is more than a day old");
      const qemu = await restore(snapshot, { machine, dir, start });
      this.#tries.delete(key);
      log("started from a snapshot", { buildId, ms: Math.round(performance.now() - startedAt) });
      return qemu;
    } catch (error) {
      start.signal.throwIfAborted();
      log("snapshot not used", { buildId, reason: sentenceOf(error) });
      await cache.dropSnapshot(image, key);
      await makeDrives({ image, imageType }, dir, start.signal); // without the changes of the failed start
      return undefined;
    }
  }

  #want(key: string, boot: Boot): void {
    if (this.#wanted.has(key) || (this.#tries.get(key) ?? 0) >= maxTries) return;
    this.#wanted.add(key);
    this.#making = this.#making.then(() => this.#make(key, boot)).finally(() => this.#wanted.delete(key));
  }

  async #make(key: string, { claim, machine }: Boot): Promise<void> {
    const { config, cache, log, signal, limits } = this.#means;
    const { buildId, imageType, image, wantsScreen } = claim;
    if (signal.aborted) return;
    const startedAt = performance.now();
    try {
      await checkMeans(machine, config.stateDir);
      using held = await cache.find(buildId, image.sha256);
      if (held === undefined) return;
      this.#tries.set(key, (this.#tries.get(key) ?? 0) + 1);
      const job = { key, image: held, imageType, machine, stateDir: config.stateDir, cache, signal };
      const onScreen = (png: Buffer<ArrayBuffer>) => this.#sendScreen(claim, png);
      await makeSnapshot({ ...job, ...(limits && { limits }), ...(wantsScreen && { onScreen }) });
      log("snapshot made", { buildId, seconds: Math.round((performance.now() - startedAt) / 1000) });
    } catch (error) {
      if (!signal.aborted) log("no snapshot", { buildId, reason: sentenceOf(error) });
    }
  }

  /** If the picture does not arrive, the snapshot is made anyway. */
  async #sendScreen(claim: Boot["claim"], png: Buffer<ArrayBuffer>): Promise<void> {
    const { api, log, signal } = this.#means;
    const { buildId } = claim;
    try {
      await api.sendScreen(leaseOfTestdrive(claim), png, signal);
      log("picture of the screen sent", { buildId, bytes: png.length });
    } catch (error) {
      log("picture of the screen not sent", { buildId, reason: sentenceOf(error) });
    }
  }
}

async function checkMeans({ memoryMb }: Machine, stateDir: string): Promise<void> {
  const available = Number(/^MemAvailable: +(\d+) kB$/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1] ?? 0) / 1024;
  if (available < memoryMb + spareMemoryMb) throw new Error(`only ${Math.round(available)} MB of memory are free`);
  const free = (await freeBytes(stateDir)) / 1024 ** 2;
  if (free < 2 * memoryMb + spareMemoryMb) throw new Error(`only ${Math.round(free)} MB of disk are free`);
}

/**
 * Names the snapshots from which this machine can start: those of a machine with the same arguments, which include the
 * path of the image, saved by the same QEMU on the same kernel and processor.
 */
async function snapshotKey(machine: Machine): Promise<string> {
  const words = [await hostKey(), ...machineArguments(machine)];
  return createHash("sha256").update(words.join("\n")).digest("hex").slice(0, 32);
}

const Status = z.object({ status: z.string() });
/** Loading a state of some hundred megabytes takes a tenth of a second. */
const loadTimeoutMs = 20_000;

/** Continues the machine of a snapshot, on a copy of its disk. If it rejects, no QEMU is left running. */
async function restore(
  snapshot: string,
  { machine, dir, start }: { machine: Machine; dir: SessionDir; start: QemuStart },
): Promise<Qemu> {
  await using saved = await openSnapshot(snapshot, dir);
  const qemu = await startQemu(machine, dir, { ...start, saved });
  try {
    await untilLoaded(qemu, AbortSignal.any([start.signal, AbortSignal.timeout(loadTimeoutMs)]));
    await qemu.execute("cont");
    return qemu;
  } catch (error) {
    await qemu[Symbol.asyncDispose]();
    throw error;
  }
}

/** The machine was saved while paused, so it is paused when it is loaded. */
async function untilLoaded(qemu: Qemu, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { status } = Status.parse(await qemu.execute("query-status"));
    if (status === "paused") return;
    if (status !== "inmigrate") throw new Error(`QEMU did not load the saved state: it is "${status}"`);
    await sleep(5, undefined, { signal });
  }
}
