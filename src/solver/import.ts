/** A stream of metadata → repositories of limited size, one after the other in the same instance. */
import type { Repository } from "./repository.ts";
import { type Dialect, primaryXml, Slicer, type SliceSizes, updateinfoXml } from "./slices.ts";
import type { Solver } from "./solver.ts";

export interface ImportOptions extends SliceSizes {
  /** 8,000 packages take about 27 MiB of the instance's memory. */
  packagesPerPart?: number;
}

/**
 * Reads `source`, which must be decompressed already, and gives a finished repository whenever enough packages are in it:
 * write its part, read its pages, then ask for the next, which resets the solver. The texts of the older layout come in a
 * second file over all packages: read such a repository in one part, with `packagesPerPart: Infinity`.
 */
export async function* importedParts(
  solver: Solver,
  source: AsyncIterable<Uint8Array>,
  dialect: Dialect,
  { packagesPerPart = 8000, ...sizes }: ImportOptions = {},
): AsyncGenerator<Repository> {
  const slicer = new Slicer(dialect, sizes);
  solver.reset();
  let part = solver.addRepository("part");
  const isFullWith = (slice: Uint8Array): boolean => {
    read(part, dialect, slice);
    return part.packageCount >= packagesPerPart;
  };
  for await (const slice of slicesOf(slicer, source)) {
    if (!isFullWith(slice)) continue;
    part.finish();
    yield part;
    solver.reset();
    part = solver.addRepository("part");
  }
  part.finish();
  if (part.packageCount > 0) yield part;
}

async function* slicesOf(slicer: Slicer, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield* slicer.push(chunk);
  yield* slicer.finish();
}

function read(part: Repository, dialect: Dialect, slice: Uint8Array): void {
  if (dialect === primaryXml) part.readPrimary(slice);
  else if (dialect === updateinfoXml) part.readUpdateinfo(slice);
  else part.readSusetags(slice);
}
