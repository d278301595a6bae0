import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ImageType } from "../contract.ts";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { makeDrives } from "../testdrive/disk.ts";
import type { Machine } from "../testdrive/machine.ts";
import { serialLogName, startQemu, type Qemu } from "../testdrive/qemu.ts";
import { makeSessionDir, type SessionDir } from "../testdrive/session-dir.ts";
import { storeSnapshot } from "./store.ts";
import { takeScreen } from "./take-screen.ts";

export interface SnapshotJob {
  key: string;
  image: CachedImage;
  imageType: ImageType;
  /** The machine of a session that will start from it. */
  machine: Machine;
  stateDir: string;
  cache: ImageCache;
  signal: AbortSignal;
  /** Gets the picture of the screen at the prompt. Without it, no picture is taken. */
  onScreen?: (png: Buffer<ArrayBuffer>) => Promise<void>;
  /** Shorter in tests. */
  limits?: Partial<Limits>;
}

interface Limits {
  /** The limit for the boot, long enough on a busy host. */
  bootMs: number;
  /** How long the console must be silent, so that services which start together with the prompt run too. */
  quietMs: number;
}

const usualLimits: Limits = { bootMs: 15 * 60_000, quietMs: 2_000 };
const startTimeoutMs = 120_000;
/** An id that no session has: those count from 1. */
const testdriveId = 0;

/**
 * Boots the image as it was built until its serial console shows a login prompt, and saves the machine's state and
 * disk. No viewer and no network reaches that machine, so nothing that a user types can get into the snapshot.
 */
export async function makeSnapshot(job: SnapshotJob): Promise<void> {
  const { image, imageType, signal } = job;
  await using dir = await makeSessionDir(job.stateDir, `snapshot-${job.key}`);
  const drives = await makeDrives({ image, imageType }, dir, signal);
  await boot({ ...job, machine: { ...job.machine, drives, testdriveId, vnc: null } }, dir);
}

/** Boots the machine and saves it. When this settles, QEMU has ended. */
async function boot(job: SnapshotJob, dir: SessionDir): Promise<void> {
  const { bootMs, quietMs } = { ...usualLimits, ...job.limits };
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(bootMs)]);
  await using qemu = await startQemu(job.machine, dir, { onEvent: () => {}, signal, isIdle: true, startTimeoutMs });
  await Promise.race([untilLogin(dir.file(serialLogName), quietMs, signal), failedBy(qemu)]);
  await job.onScreen?.(await takeScreen(qemu, { dir, testdriveId }));
  await storeSnapshot(qemu, { ...job, dir, testdriveId, memoryMb: job.machine.memoryMb, signal });
}

async function untilLogin(serialLog: string, quietMs: number, signal: AbortSignal): Promise<void> {
  let before = "";
  let quietSince = performance.now();
  for (;;) {
    const said = await readFile(serialLog, "latin1");
    if (said !== before) quietSince = performance.now();
    before = said;
    if (/login: ?$/.test(said) && performance.now() - quietSince >= quietMs) return;
    await sleep(250, undefined, { signal });
  }
}

async function failedBy(qemu: Qemu): Promise<never> {
  throw new Error(await qemu.ended);
}
