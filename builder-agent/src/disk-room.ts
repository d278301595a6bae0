import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "./config.ts";
import { sentenceOf, type Log } from "./log.ts";

const gb = 1e9;
/** A build is stopped when less than this part of the reserve is free, because other programs need space too. */
const floorPart = 0.2;
/** The fastest disks fill a gigabyte in about a second. */
const lookEveryMs = 1_000;

/** The bytes that can still be written to the disk of `dir`. Holes of sparse files count as free. */
export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

/** A program that fails on a full disk deletes what it wrote, sometimes within a second. */
const sampleEveryMs = 200;

/** Remembers the least free space of a disk from its creation until it is disposed. */
export class FreeSpaceWatch {
  readonly #dir: string;
  readonly #timer: NodeJS.Timeout;
  #least = Infinity;

  constructor(dir: string) {
    this.#dir = dir;
    this.#timer = setInterval(() => void this.least(), sampleEveryMs).unref();
  }

  /** The least free space so far, in bytes, including now. Infinity while the disk cannot be checked. */
  async least(): Promise<number> {
    const free = await freeBytes(this.#dir).catch(() => Infinity);
    return (this.#least = Math.min(this.#least, free));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

export interface Stoppable {
  stop(reason: "no_room"): void;
  done: Promise<void>;
}

/** A cache, deleted when disk space runs low. */
export interface FreeableCache {
  /** Frees that many bytes, or all that it can. */
  free(bytes: number): Promise<void>;
}

interface Means {
  config: Pick<Config, "stateDir" | "minFreeGb">;
  /** In the order in which they are deleted. Undefined if the operator has switched the cache off. */
  caches: readonly (FreeableCache | undefined)[];
  log: Log;
}

/** Watches the disk of the state directory before work is claimed and while builds run. */
export class DiskRoom {
  readonly #means: Means;
  #wasEnough = true;

  constructor(means: Means) {
    this.#means = means;
  }

  /** The answer of the last check. */
  get wasEnough(): boolean {
    return this.#wasEnough;
  }

  /**
   * Whether the reserve is free once for the next build, and once for each running build, because those will write
   * more. Deletes caches to achieve this.
   */
  async isEnough(running: number): Promise<boolean> {
    const { config, log } = this.#means;
    const wanted = config.minFreeGb * gb * (running + 1);
    const free = await this.freed(wanted);
    const isEnough = free >= wanted;
    if (isEnough !== this.#wasEnough) log(isEnough ? "room for builds again" : "no room for builds", { free, wanted });
    this.#wasEnough = isEnough;
    return isEnough;
  }

  /** Whether there was no room at the last check, and there is now. */
  async isBack(running: number): Promise<boolean> {
    return !this.#wasEnough && (await this.isEnough(running));
  }

  /**
   * Stops the newest build when the floor is reached, and checks again when it is gone. Runs until `signal` is aborted.
   */
  async keepFloor(newest: () => Stoppable | undefined, signal: AbortSignal): Promise<void> {
    const { log } = this.#means;
    while (!signal.aborted) {
      await this.#stopAtFloor(newest).catch((error: unknown) =>
        log("could not check the disk", { reason: sentenceOf(error) }),
      );
      await sleep(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether the reserve for one build is still free after that many bytes are written. Deletes caches to achieve this. */
  async fits(bytes: number): Promise<boolean> {
    const wanted = this.#means.config.minFreeGb * gb + bytes;
    return (await this.freed(wanted)) >= wanted;
  }

  /** Deletes caches until that many bytes are free. Returns how many are. */
  async freed(wanted: number): Promise<number> {
    const { config, caches } = this.#means;
    let free = await freeBytes(config.stateDir);
    for (const cache of caches) {
      if (free >= wanted) break;
      await cache?.free(wanted - free);
      free = await freeBytes(config.stateDir);
    }
    return free;
  }

  async #stopAtFloor(newest: () => Stoppable | undefined): Promise<void> {
    const { config, log } = this.#means;
    if (newest() === undefined) return;
    const floor = config.minFreeGb * gb * floorPart;
    const free = await this.freed(floor);
    if (free >= floor) return;
    const build = newest();
    log("stopping a build: out of disk space", { free, floor });
    build?.stop("no_room");
    await build?.done;
  }
}
