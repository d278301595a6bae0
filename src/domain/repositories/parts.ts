import { rest } from "#lib/loop/pace";
import { maxSolvBytes, tooMuch } from "#domain/repositories/import-limits";
import type { Repository as SolverRepository } from "#lib/solver/repository";
import type { Solver } from "#lib/solver/solver";
import { solvKey } from "#storage/blobs";

/**
 * The maximum size of a part. Writing it takes 50 ms, in which nothing else runs. It needs four times as much memory in
 * the solver, and three times in JavaScript.
 */
const maxPartBytes = 2 * 2 ** 20;

/**
 * Writes the .solv files of an import to R2. Metadata is read in small parts, because its texts need memory. The data
 * for solving is joined into a few large files, which contain shared strings only once, so that a new isolate has less
 * to fetch and to load.
 */
export class PartWriter {
  /** The files in R2, in order. */
  readonly keys: string[] = [];
  readonly #solver: Solver;
  readonly #put: (n: number, bytes: Uint8Array) => Promise<string>;
  #waiting: Uint8Array[] = [];
  #bytes = 0;

  constructor(solver: Solver, blobs: R2Bucket, { repositoryId, importId }: { repositoryId: number; importId: string }) {
    this.#solver = solver;
    this.#put = async (n, bytes) => {
      const key = solvKey(repositoryId, importId, n);
      await blobs.put(key, bytes);
      return key;
    };
  }

  add(part: SolverRepository): void {
    this.#waiting.push(part.write("solving"));
  }

  get isFull(): boolean {
    return this.#waiting.reduce((sum, { byteLength }) => sum + byteLength, 0) >= maxPartBytes;
  }

  /** Writes the waiting parts as one file. Resets the solver, so nothing else in the solver may be in use. */
  async flush(): Promise<void> {
    const [only, ...more] = this.#waiting;
    if (!only) return;
    const part = more.length === 0 ? only : await this.#joined();
    this.#bytes += part.byteLength;
    if (this.#bytes > maxSolvBytes) throw tooMuch(`${maxSolvBytes / 2 ** 20} MB of relations between packages`);
    await rest();
    this.keys.push(await this.#put(this.keys.length, part));
    await rest();
    this.#waiting = [];
  }

  async #joined(): Promise<Uint8Array> {
    this.#solver.reset();
    const whole = this.#solver.addRepository("whole");
    for (const part of this.#waiting) {
      whole.loadPart(part);
      await rest();
    }
    return whole.write("solving");
  }
}
