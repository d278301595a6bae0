import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { imageFormats, type TestdriveClaim } from "../contract.ts";
import { freeBytes } from "../disk-room.ts";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { leaseOfTestdrive } from "../lease.ts";
import { sentenceOf, type Log } from "../log.ts";
import type { SessionApi } from "../session-api.ts";
import { makeDrives } from "../testdrive/disk.ts";
import type { Machine } from "../testdrive/machine.ts";
import { startQemu, type Qemu, type QemuStart } from "../testdrive/qemu.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { isFresh } from "./files.ts";
import { makeSnapshot, type SnapshotJob } from "./make-snapshot.ts";
import { restore, snapshotKey } from "./restore.ts";
import { storeSnapshot } from "./store.ts";

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
    | "buildId"
    | "imageType"
    | "arch"
    | "image"
    | "wantsScreen"
    | "testdriveId"
    | "token"
    | "requestId"
    | "continuesAfter"
  >;
  image: CachedImage;
  machine: Machine;
  dir: SessionDir;
  start: QemuStart;
}

/** The number of times to try an image that does not reach its prompt, or does not continue from it. */
const maxTries = 3;
const notKept = "The machine of these checks is no longer kept. Start a testdrive that boots the image.";
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
    if (claim.continuesAfter) return await this.#continue(boot);
    if (!this.#canMake(boot)) return await startQemu(machine, dir, start);
    // A guest on a network must have its own keys, and one with a seed must read it at its first boot. Variables of a
    // firmware are part of no snapshot.
    const alone = { ...machine, hasNetwork: false, seed: [], firmware: undefined };
    const isOwn = machine.hasNetwork || machine.seed.length > 0 || machine.firmware !== undefined;
    const key = await snapshotKey(alone, "booted");
    const restored = isOwn ? undefined : await this.#restore(key, boot);
    const qemu = restored ?? (await startQemu(machine, dir, start));
    const wantsSnapshot = !restored && !isOwn;
    if (wantsSnapshot || claim.wantsScreen) this.#want(key, { ...boot, machine: alone });
    return qemu;
  }

  /**
   * Keeps a machine as it is after its checks, and ends it, so that a testdrive can continue it. Returns whether it is
   * kept.
   */
  async keep(boot: Omit<Boot, "start">, qemu: Qemu, signal: AbortSignal): Promise<boolean> {
    const { claim, image, machine, dir } = boot;
    const { cache, config, log } = this.#means;
    // Variables of a firmware are part of no snapshot.
    if (!this.#canMake(boot) || machine.firmware !== undefined) return false;
    const { buildId, testdriveId } = claim;
    try {
      await checkDisk(machine, config.stateDir);
      const key = await snapshotKey(machine, "checked");
      await storeSnapshot(qemu, { key, image, cache, dir, testdriveId, memoryMb: machine.memoryMb, signal });
      log("machine kept", { buildId });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      log("machine not kept", { buildId, reason: sentenceOf(error) });
      return false;
    }
  }

  /** Settles when nothing is being made. */
  async settled(): Promise<void> {
    await this.#making;
  }

  /**
   * Whether a snapshot is possible: an installation medium has no prompt to wait for, and a machine for arm64 does not
   * start without its firmware.
   */
  #canMake({ claim: { imageType, arch } }: Pick<Boot, "claim">): boolean {
    return (
      this.#means.config.snapshots === "on" && arch !== "aarch64" && imageFormats[imageType].product !== "installer"
    );
  }

  /** Rejects with a sentence for the user: a machine that boots would be another one than the user wants to see. */
  async #continue({ image, machine, dir, start }: Boot): Promise<Qemu> {
    const { cache, log } = this.#means;
    try {
      const snapshot = await cache.findSnapshot(image, await snapshotKey(machine, "checked"));
      if (snapshot === undefined || !(await isFresh(snapshot))) throw new Error("there is none that is fresh");
      return await restore(snapshot, { machine, dir, start });
    } catch (error) {
      start.signal.throwIfAborted();
      log("kept machine not used", { reason: sentenceOf(error) });
      throw new Error(notKept, { cause: error });
    }
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

async function checkMeans(machine: Machine, stateDir: string): Promise<void> {
  const { memoryMb } = machine;
  const available = Number(/^MemAvailable: +(\d+) kB$/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1] ?? 0) / 1024;
  if (available < memoryMb + spareMemoryMb) throw new Error(`only ${Math.round(available)} MB of memory are free`);
  await checkDisk(machine, stateDir);
}

async function checkDisk({ memoryMb }: Machine, stateDir: string): Promise<void> {
  const free = (await freeBytes(stateDir)) / 1024 ** 2;
  if (free < 2 * memoryMb + spareMemoryMb) throw new Error(`only ${Math.round(free)} MB of disk are free`);
}
