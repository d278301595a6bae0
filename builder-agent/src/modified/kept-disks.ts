import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Spare } from "../disk-room.ts";

/** Where copies of overlays lie, and the overlays of sessions that are over; on the disk of the sessions. */
export const modifiedDir = (stateDir: string) => join(stateDir, "modified");

interface Kept {
  bytes: number;
  /** Ends the keeping early. */
  giveUp: AbortController;
  gone: PromiseWithResolvers<void>;
}

/**
 * The disks of sessions that are over: each for a while, and all of them together up to a size, beyond which the oldest go.
 */
export class KeptDisks implements Spare {
  readonly #config: Pick<Config, "stateDir" | "keptMinutes" | "keptGb">;
  /** In the order of their ends. */
  readonly #kept = new Map<string, Kept>();

  constructor(config: Pick<Config, "stateDir" | "keptMinutes" | "keptGb">) {
    this.#config = config;
  }

  /** A place on the sessions' disk. */
  async place(name: string): Promise<string> {
    const dir = modifiedDir(this.#config.stateDir);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return join(dir, name);
  }

  /**
   * Takes an overlay over. → where it lies now, and a signal that it has to go; the caller says when nobody reads it any more.
   * Undefined: it is larger than all the room, or none is to be kept.
   */
  async keep(overlay: string, name: string): Promise<KeptDisk | undefined> {
    const { keptMinutes, keptGb } = this.#config;
    const bytes = (await stat(overlay)).blocks * 512;
    const most = keptGb * 1e9;
    if (keptMinutes === 0 || bytes > most) return undefined;
    const path = await this.place(name);
    await rename(overlay, path);
    const giveUp = new AbortController();
    const gone = Promise.withResolvers<void>();
    this.#kept.set(path, { bytes, giveUp, gone });
    this.#makeRoom(most);
    return {
      path,
      over: AbortSignal.any([giveUp.signal, AbortSignal.timeout(keptMinutes * 60_000)]),
      release: async () => {
        this.#kept.delete(path);
        await rm(path, { force: true }).finally(gone.resolve);
      },
    };
  }

  /** For work that has no room: the oldest first. Settles when they are gone. */
  async giveUp(bytes: number): Promise<void> {
    const going: Promise<void>[] = [];
    let freed = 0;
    for (const kept of this.#kept.values()) {
      if (freed >= bytes) break;
      kept.giveUp.abort();
      freed += kept.bytes;
      going.push(kept.gone.promise);
    }
    await Promise.all(going);
  }

  #makeRoom(most: number): void {
    let total = [...this.#kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { bytes, giveUp } of this.#kept.values()) {
      if (total <= most) return;
      if (giveUp.signal.aborted) continue;
      giveUp.abort();
      total -= bytes;
    }
  }
}

export interface KeptDisk {
  path: string;
  over: AbortSignal;
  release(): Promise<void>;
}
