import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { DiskCache, diskUse } from "../disk-cache.ts";
import type { FreeableCache } from "../disk-room.ts";

/** The directory for copies of overlays and for overlays of ended sessions, on the disk of the sessions. */
export const modifiedDir = (stateDir: string) => join(stateDir, "modified");

/** The disk of an ended session. */
export interface EndedDisk {
  path: string;
  /** Aborted when the disk must be deleted. Then call `release`. */
  over: AbortSignal;
  /** Deletes the disk. */
  release(): Promise<void>;
}

/**
 * The disks of ended sessions. Each is stored for `keptMinutes`, and together they take up to `keptGb`. The oldest are
 * deleted first.
 */
export class EndedDisks implements FreeableCache {
  readonly #config: Pick<Config, "stateDir" | "keptMinutes" | "keptGb">;
  readonly #cache: DiskCache;

  constructor(config: Pick<Config, "stateDir" | "keptMinutes" | "keptGb">) {
    this.#config = config;
    this.#cache = new DiskCache({
      dir: modifiedDir(config.stateDir),
      limits: { maxBytes: config.keptGb * 1e9 },
      list: async () => [], // an agent that starts deletes the directory (orphans.ts)
      sizeOf: diskUse,
      index: "memory",
    });
  }

  /** A path on the sessions' disk. */
  async pathFor(name: string): Promise<string> {
    const dir = modifiedDir(this.#config.stateDir);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return join(dir, name);
  }

  /** Renames an overlay. Undefined if it is larger than `keptGb`, or if the operator has switched this off. */
  async put(overlay: string, name: string): Promise<EndedDisk | undefined> {
    const { keptMinutes, keptGb } = this.#config;
    if (keptMinutes === 0 || (await diskUse(overlay)) > keptGb * 1e9) return undefined;
    const path = await this.pathFor(name);
    const giveUp = new AbortController();
    const gone = Promise.withResolvers<void>();
    const lease = this.#cache.lease(path, () => {
      giveUp.abort();
      return gone.promise;
    });
    try {
      await this.#cache.publish(overlay, path);
    } catch (error) {
      lease.release();
      throw error;
    }
    return {
      path,
      over: AbortSignal.any([giveUp.signal, AbortSignal.timeout(keptMinutes * 60_000)]),
      release: async () => {
        lease.release();
        await this.#cache.remove(path).finally(gone.resolve);
      },
    };
  }

  /** Deletes the oldest disks when work needs the room. Settles when they are deleted. */
  async free(bytes: number): Promise<void> {
    await this.#cache.free(bytes);
  }
}
