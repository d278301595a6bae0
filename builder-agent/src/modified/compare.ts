import { isSecretPath, maxModifiedFiles, type ModifiedFile, type ModifiedFilter } from "../contract.ts";
import { isSame } from "./content.ts";
import { UnreadableDisk } from "./disk.ts";
import type { FileSystem } from "./file-system.ts";
import type { Inode } from "./ext4-inode.ts";

/** A path that differs between the two trees. */
export interface Change {
  change: ModifiedFile["change"];
  path: string;
  /** Null if the path does not exist in that tree. */
  before: Inode | null;
  after: Inode | null;
  content: boolean;
}

export interface Comparison {
  changes: Change[];
  truncated: boolean;
  /** How many names are not valid text. */
  unnamed: number;
}

export interface Sides {
  before: FileSystem;
  after: FileSystem;
}

const maxNames = 2_000_000;
const longestPath = 4095; // PATH_MAX without the final NUL

/** The differences in the order of the names, each directory before its contents. */
export async function compare(sides: Sides, filter: ModifiedFilter, signal: AbortSignal): Promise<Comparison> {
  const walk = new Walk(sides, filter, signal);
  await walk.directory("", await sides.before.root(), await sides.after.root());
  return walk.result;
}

const isAtOrBelow = (path: string, dir: string) => dir === "/" || path === dir || path.startsWith(`${dir}/`);

/** Whether a path is requested. */
const isWanted = (path: string, { paths, except, withoutSecrets = false }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((dir) => isAtOrBelow(path, dir))) &&
  !except.some((dir) => isAtOrBelow(path, dir)) &&
  !(withoutSecrets && isSecretPath(path));

/** Whether anything at or below a path may be requested. */
const mayHoldWanted = (path: string, { paths, except }: ModifiedFilter): boolean =>
  (paths.length === 0 || paths.some((dir) => isAtOrBelow(path, dir) || isAtOrBelow(dir, path))) &&
  !except.some((dir) => isAtOrBelow(path, dir));

class Walk {
  readonly result: Comparison = { changes: [], truncated: false, unnamed: 0 };
  readonly #sides: Sides;
  readonly #filter: ModifiedFilter;
  readonly #signal: AbortSignal;
  /** Directories that were entered: a damaged tree may contain itself. */
  readonly #entered = { before: new Set<number>(), after: new Set<number>() };
  #names = 0;

  constructor(sides: Sides, filter: ModifiedFilter, signal: AbortSignal) {
    this.#sides = sides;
    this.#filter = filter;
    this.#signal = signal;
  }

  /** Compares the contents of a directory, which may exist in one tree only. */
  async directory(path: string, before: Inode | null, after: Inode | null): Promise<void> {
    const [old, now] = [await this.#list("before", before), await this.#list("after", after)];
    const names = [...new Set([...old.keys(), ...now.keys()])].toSorted();
    this.#names += names.length;
    if (this.#names > maxNames) throw new UnreadableDisk("it contains too many files");
    for (const name of names) {
      if (this.result.truncated) return;
      const shown = textOf(name);
      if (shown === undefined) this.result.unnamed += 1;
      else await this.#name(`${path}/${shown}`, old.get(name), now.get(name));
    }
  }

  async #name(path: string, oldInode: number | undefined, newInode: number | undefined): Promise<void> {
    this.#signal.throwIfAborted();
    if (Buffer.byteLength(path) > longestPath || !mayHoldWanted(path, this.#filter)) return;
    const before = await inodeOf(this.#sides.before, oldInode);
    const after = await inodeOf(this.#sides.after, newInode);
    if (isWanted(path, this.#filter)) await this.#note(path, before, after);
    const [oldDirectory, newDirectory] = [directoryOr(before), directoryOr(after)];
    if (oldDirectory || newDirectory) await this.directory(path, oldDirectory, newDirectory);
  }

  async #note(path: string, before: Inode | null, after: Inode | null): Promise<void> {
    if (!before && !after) return;
    const content = await this.#contentDiffers(before, after);
    if (before && after && !content && isAlike(before, after)) return;
    if (this.result.changes.length === maxModifiedFiles) {
      this.result.truncated = true;
      return;
    }
    const change = before ? (after ? "changed" : "deleted") : "added";
    this.result.changes.push({ change, path, before, after, content });
  }

  async #contentDiffers(before: Inode | null, after: Inode | null): Promise<boolean> {
    if (!before || !after || before.type !== after.type) return true;
    if (before.type !== "f" && before.type !== "l") return false;
    if (before.size !== after.size) return true;
    // Every write changes these times, and no program can set the second one.
    if (before.number === after.number && before.times === after.times) return false;
    const { before: old, after: now } = this.#sides;
    if (before.type === "l") return !(await old.target(before)).equals(await now.target(after));
    return !(await isSame(old.pieces(before), now.pieces(after), this.#signal));
  }

  async #list(side: "before" | "after", directory: Inode | null): Promise<Map<string, number>> {
    if (!directory) return new Map();
    if (this.#entered[side].has(directory.number)) throw new UnreadableDisk("one of its directories is damaged");
    this.#entered[side].add(directory.number);
    return await this.#sides[side].list(directory);
  }
}

const inodeOf = async (files: FileSystem, number: number | undefined): Promise<Inode | null> =>
  number === undefined ? null : ((await files.inode(number)) ?? null);

const directoryOr = (inode: Inode | null) => (inode?.type === "d" ? inode : null);

const isAlike = (one: Inode, other: Inode) => one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Characters that neither XML nor our paths can contain. */
const unfit = /[\u0000-\u001f\u007f\ufffe\uffff]/;

/** Decodes a name whose bytes are given as characters of Latin-1. Undefined if it is not valid text. */
export function textOf(latin1: string): string | undefined {
  try {
    const text = utf8.decode(Buffer.from(latin1, "latin1"));
    return unfit.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
