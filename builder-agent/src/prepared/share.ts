import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BuildConditions } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import type { PreparedRoots } from "./store.ts";

/** Roots that other agents have prepared. The Worker stores them. */
export interface RemoteRoots {
  /** Writes the archive of that key to `into`. False if there is none. */
  fetch(key: string, into: string, signal: AbortSignal): Promise<boolean>;
  has(key: string, signal: AbortSignal): Promise<boolean>;
  /** Uploads the archive. */
  give(file: string, signal: AbortSignal): Promise<void>;
}

export interface ShareTarget {
  roots: PreparedRoots;
  /** The root's name (key.ts). */
  key: string;
  workDir: string;
  /** Absent if no other agent needs this root or has it. */
  remote?: RemoteRoots;
  signal: AbortSignal;
  /** Called with a sentence for the build's log. */
  onNote: (note: string) => void;
}

/** One build's use of a prepared root: it finds the root, or prepares it for later builds. Dispose of it at the end. */
export class RootShare {
  readonly #target: ShareTarget;
  readonly #unlock: () => void;
  readonly #file: string;
  readonly #source: Source;
  /** Whether this build has written the archive. */
  #isMade = false;

  private constructor(target: ShareTarget, found: { file: string; source: Source; unlock: () => void }) {
    this.#target = target;
    this.#file = found.file;
    this.#source = found.source;
    this.#unlock = found.unlock;
  }

  /** Waits while another build prepares the same root. */
  static async join(target: ShareTarget): Promise<RootShare> {
    const { roots, key, signal, onNote } = target;
    const file = join(target.workDir, "prepared.tar.zst");
    const unlock = await roots.lock(key, signal);
    try {
      const source = (await roots.take(key, file)) ? "here" : (await fetched(target, file)) ? "remote" : "none";
      if (source !== "none") {
        onNote("the image is made from a root that was prepared before");
        unlock();
      }
      return new RootShare(target, { file, source, unlock });
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** An archive of the prepared root. With it, only `system create` is left to do. */
  get archive(): string | undefined {
    return this.#source === "none" ? undefined : this.#file;
  }

  get startedFrom(): BuildConditions["startedFrom"] {
    return this.#source === "none" ? undefined : { kind: "root", key: this.#target.key };
  }

  /** Calls `pack` to write an archive of the prepared root. If that fails, the build goes on. */
  async offer(pack: (file: string) => Promise<void>): Promise<void> {
    const { roots, key, signal, onNote } = this.#target;
    try {
      await pack(this.#file);
      await roots.put(key, this.#file);
      this.#isMade = true;
    } catch (error) {
      await rm(this.#file, { force: true });
      signal.throwIfAborted();
      onNote(`could not cache the root for other formats: ${sentenceOf(error)}`);
    } finally {
      this.#unlock();
    }
  }

  /**
   * Uploads the root for agents that do not have it. Returns its key, or undefined if that failed: the build goes on.
   */
  async give(): Promise<{ key: string } | undefined> {
    const { remote, key, signal, onNote } = this.#target;
    if (!remote) return undefined;
    try {
      const isWanted = this.#isMade || (this.#source === "here" && !(await remote.has(key, signal)));
      if (!isWanted) return undefined;
      await remote.give(this.#file, signal);
      return { key };
    } catch (error) {
      signal.throwIfAborted();
      onNote(`could not share the root with other builders: ${sentenceOf(error)}`);
      return undefined;
    }
  }

  /** Call this if the archive could not be used: the next build prepares the root again. */
  async distrust(): Promise<void> {
    await this.#target.roots.forget(this.#target.key);
  }

  [Symbol.dispose](): void {
    this.#unlock();
  }
}

/** The source of the archive. */
type Source = "here" | "remote" | "none";

/** False if the build must prepare the root itself. */
async function fetched({ remote, roots, key, signal, onNote }: ShareTarget, file: string): Promise<boolean> {
  if (!remote) return false;
  try {
    if (!(await remote.fetch(key, file, signal))) return false;
    await roots.put(key, file);
    return true;
  } catch (error) {
    await rm(file, { force: true });
    signal.throwIfAborted();
    onNote(`could not fetch the root of an earlier format: ${sentenceOf(error)}`);
    return false;
  }
}
