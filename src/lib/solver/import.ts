/** Turns a stream of metadata into repositories of limited size, one after the other in the same instance. */
import { rest } from "#lib/loop/pace";
import { RepodataFault } from "#lib/repodata/fault";
import { type SlicedDocument, type SliceLimits, slices } from "#lib/repodata/slices";
import { SolverCrashed } from "./native.ts";
import { type Repository, UnreadableMetadata } from "./repository.ts";
import type { Solver } from "./solver.ts";

export interface ImportOptions extends Partial<SliceLimits> {
  /** 2,000 packages take about 10 MiB of WASM memory, and writing them blocks everything else for 10 ms. */
  packagesPerPart?: number;
  /** Bytes of metadata after which a part ends, however few packages it has: one advisory can name many files. */
  bytesPerPart?: number;
  /** The records of a slice that are read. Default: all. */
  select?: (slice: Uint8Array) => Uint8Array;
  /** Sees each slice that was read into the current part. */
  onSlice?: (slice: Uint8Array) => void;
}

/** Slices are small, because the library takes two milliseconds for each, and nothing else runs during that time. */
const sliceLimits = { bytes: 2 ** 16 };

/**
 * libsolv compares each new folder of a part with all others. Lists name only the files that others may require; Debian
 * names none. More in one slice than a whole part may have are of one package, because a slice is small.
 */
const filesPerPart = 10_000;

/**
 * Reads `source`, which must be decompressed already, and yields a finished repository whenever it has enough packages.
 * Write its part and read its pages before you ask for the next one, which resets the solver.
 */
export async function* importedParts(
  solver: Solver,
  source: ReadableStream<Uint8Array>,
  document: SlicedDocument,
  { packagesPerPart = 2000, bytesPerPart = 16 * 2 ** 20, select, onSlice, ...limits }: ImportOptions = {},
): AsyncGenerator<Repository> {
  solver.reset();
  let part = solver.addRepository("part");
  let [partBytes, partFiles] = [0, 0];
  for await (const slice of slices(source, document, { ...sliceLimits, records: packagesPerPart, ...limits })) {
    const bytes = select ? select(slice.bytes) : slice.bytes;
    if (bytes.byteLength === 0) continue;
    partFiles += document === "primary" ? filesIn(bytes) : 0;
    reading(solver, () => read(part, document, bytes));
    onSlice?.(bytes);
    partBytes += bytes.byteLength;
    if (part.packageCount < packagesPerPart && partBytes < bytesPerPart && partFiles < filesPerPart) continue;
    reading(solver, () => part.finish());
    await rest();
    yield part;
    solver.reset();
    part = solver.addRepository("part");
    [partBytes, partFiles] = [0, 0];
  }
  reading(solver, () => part.finish());
  if (part.packageCount > 0) yield part;
}

/** The number of files that a slice of primary.xml names. */
function filesIn(slice: Uint8Array): number {
  let found = 0;
  for (let at = slice.indexOf(lessThan); at >= 0; at = slice.indexOf(lessThan, at + 1)) {
    if (file.every((byte, nth) => slice[at + 1 + nth] === byte)) found += 1;
  }
  if (found <= filesPerPart) return found;
  throw new RepodataFault("too_large", `primary.xml has a package of more than ${filesPerPart} files`);
}

const [lessThan = 0, ...file] = new TextEncoder().encode("<file");

/** Metadata that ends the instance is a fault of its author, unless the instance had ended before. */
function reading(solver: Solver, work: () => void): void {
  const wasGone = solver.isGone;
  try {
    work();
  } catch (error) {
    if (wasGone || !(error instanceof SolverCrashed)) throw error;
    throw new UnreadableMetadata("a list needs too much memory, or nests too deeply", { cause: error });
  }
}

function read(part: Repository, document: SlicedDocument, slice: Uint8Array): void {
  if (document === "primary") part.readPrimary(slice);
  else if (document === "updateinfo") part.readUpdateinfo(slice);
  else if (document === "deb") part.readDeb(slice);
  else part.readSusetags(slice);
}
