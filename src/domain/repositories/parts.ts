import { maxSolvBytes, tooMuch } from "#domain/repositories/import-limits";
import type { Repository as SolverRepository } from "#solver/repository";
import type { Solver } from "#solver/solver";
import { solvKey } from "#storage/blobs";

/** The solver takes four times as much for it, and JavaScript holds it three times while it is joined. */
const maxPartBytes = 5 * 2 ** 20;

/**
 * The .solv files of an import on their way to R2. Metadata is read in small parts, because its texts take room; what is left
 * for solving is joined to few large ones, in which the strings that parts share stand once: an isolate that begins has less
 * to fetch and to load.
 */
export class PartWriter {
  /** Of what is in R2, in order. */
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

  /** Writes what waits, as one. Resets the solver: nothing else may be in use there. */
  async flush(): Promise<void> {
    const [only, ...more] = this.#waiting;
    if (!only) return;
    const part = more.length === 0 ? only : this.#joined();
    this.#bytes += part.byteLength;
    if (this.#bytes > maxSolvBytes) throw tooMuch(`${maxSolvBytes / 2 ** 20} MB of relations between packages`);
    this.keys.push(await this.#put(this.keys.length, part));
    this.#waiting = [];
  }

  #joined(): Uint8Array {
    this.#solver.reset();
    const whole = this.#solver.addRepository("whole");
    for (const part of this.#waiting) whole.loadPart(part);
    return whole.write("solving");
  }
}
