import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * If a file was written less than this before it was examined, a second write might not change its time, because some
 * file systems' clocks tick every two seconds.
 */
const settledMs = 2_000;

type Seen = { mtimeMs: number; size: number; inode: number; isSettled: boolean };

/**
 * Copies of files that a running service changes. Most are made while it runs. At the moment of the backup, only files
 * that have changed since then are copied again.
 */
export class Copies {
  readonly #from: string;
  readonly #into: string;
  readonly #seen = new Map<string, Seen>();

  constructor(from: string, into: string) {
    this.#from = from;
    this.#into = into;
  }

  /**
   * Copies files that are new or may have changed, and returns their number. Throws at `endsAt`, a time of
   * `performance.now()`.
   */
  refresh(names: readonly string[], endsAt = Infinity): number {
    let copied = 0;
    for (const name of names) {
      if (performance.now() > endsAt) throw new Error("too many of its files change at the same time");
      if (this.#copyIfChanged(name)) copied++;
    }
    if (this.#seen.size > names.length) this.#keepOnly(new Set(names));
    return copied;
  }

  #keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#remove(name);
  }

  #copyIfChanged(name: string): boolean {
    const [before, now] = [this.#seen.get(name), Date.now()];
    const found = statSync(`${this.#from}/${name}`, { throwIfNoEntry: false });
    if (!found) {
      this.#remove(name);
      return false;
    }
    const { mtimeMs, size, ino: inode } = found;
    if (before?.isSettled && before.mtimeMs === mtimeMs && before.size === size && before.inode === inode) return false;
    mkdirSync(dirname(join(this.#into, name)), { recursive: true });
    try {
      copyFileSync(join(this.#from, name), join(this.#into, name), constants.COPYFILE_FICLONE);
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#remove(name);
      return false;
    }
    // Any later write changes the time, unless the file was written just now.
    this.#seen.set(name, { mtimeMs, size, inode, isSettled: mtimeMs < now - settledMs });
    return true;
  }

  #remove(name: string): void {
    this.#seen.delete(name);
    rmSync(join(this.#into, name), { force: true });
  }
}

/** Hard links to a folder's files, which never change. The links remain when the service deletes the files. */
export class Links {
  readonly #from: string;
  readonly #into: string;
  readonly #names = new Set<string>();

  constructor(from: string, into: string) {
    this.#from = from;
    this.#into = into;
    mkdirSync(into, { recursive: true });
  }

  /** Links new files. */
  refresh(): void {
    for (const name of readdirSync(this.#from)) if (!this.#names.has(name)) this.#link(name);
  }

  /** Removes all other links. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#names) if (!names.has(name)) rmSync(join(this.#into, name));
  }

  #link(name: string): void {
    try {
      linkSync(join(this.#from, name), join(this.#into, name));
      this.#names.add(name);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

const isGone = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
