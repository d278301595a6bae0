import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BuildConditions, FrozenInput } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { compress, unpackArchive } from "./archive.ts";
import type { BaseRoot, BaseRoots } from "./bases.ts";

interface BaseTarget {
  bases: BaseRoots;
  input: FrozenInput;
  /** The `builder` of Preparer (key.ts). */
  builder: string;
  workDir: string;
  signal: AbortSignal;
  /** Called with a sentence for the build's log. */
  onNote: (note: string) => void;
}

/** A new base must save later builds at least this fraction of their packages, in bytes. */
const worthwhilePart = 0.1;

/** One build's use of base roots: it starts from one, and its packages make another. Errors never fail the build. */
export class BaseShare {
  readonly #target: BaseTarget;
  readonly #archive: string;
  #found: BaseRoot | undefined;

  private constructor(target: BaseTarget, archive: string, found: BaseRoot | undefined) {
    this.#target = target;
    this.#archive = archive;
    this.#found = found;
  }

  static async join(target: BaseTarget): Promise<BaseShare> {
    const archive = join(target.workDir, "base.tar.zst");
    return new BaseShare(target, archive, await target.bases.take(target, archive));
  }

  /** Unpacks the base that the build starts from, if there is one. */
  async unpack(root: string): Promise<void> {
    if (!this.#found) return;
    const { bases, input, signal, onNote } = this.#target;
    try {
      await unpackArchive(this.#archive, root, signal);
      onNote(`${this.#found.checksums.length} of ${input.packages.length} packages are those of an earlier build`);
    } catch (error) {
      signal.throwIfAborted();
      await bases.forget(this.#found);
      this.#found = undefined;
      await rm(root, { recursive: true, force: true });
      onNote(`could not start from the packages of an earlier build: ${sentenceOf(error)}`);
    } finally {
      await rm(this.#archive, { force: true });
    }
  }

  /** The base that was unpacked. Undefined if there was none. */
  get startedFrom(): BuildConditions["startedFrom"] {
    return this.#found && { kind: "packages", key: this.#found.name };
  }

  /** The path for an archive of the root with its installed packages. Undefined if none is needed. */
  get copy(): string | undefined {
    const { input, workDir } = this.#target;
    return isWorthwhile(input, this.#found) ? join(workDir, "new-base.tar") : undefined;
  }

  /** Stores that archive for later builds. */
  async offer(): Promise<void> {
    const { copy } = this;
    if (copy === undefined) return;
    const { bases, signal, onNote } = this.#target;
    try {
      await compress(copy, this.#archive, signal);
      await bases.put(this.#target, this.#archive);
    } catch (error) {
      signal.throwIfAborted();
      onNote(`could not store the packages for later builds: ${sentenceOf(error)}`);
    }
  }
}

function isWorthwhile({ packages }: FrozenInput, found: BaseRoot | undefined): boolean {
  const known = new Set(found?.checksums);
  const missing = packages.filter(({ checksum }) => !known.has(checksum.value));
  return bytesOf(missing) > worthwhilePart * bytesOf(packages);
}

const bytesOf = (packages: FrozenInput["packages"]): number => packages.reduce((bytes, { size }) => bytes + size, 0);
