import type { Compression, OtherDecompressor } from "#repodata/decompress";
import { streamOf } from "#repodata/streams";
import { decompressed, type ExpansionLimits } from "#solver/decoder";
import { solverRoom } from "#solver/shared";
import type { Solver } from "#solver/solver";

/** `xz -9` needs 65 MiB for its dictionary. */
const dictionaryBytes = 66 * 2 ** 20;

/** Runs work that reads data of this compression. For xz and bzip2 it takes the isolate's solver, which has their decoders. */
export async function withDecompressor<T>(
  compression: Compression,
  limits: ExpansionLimits,
  work: (other: OtherDecompressor) => Promise<T>,
): Promise<T> {
  if (!isSolvers(compression)) return work(noOther);
  return solverRoom.withEmptySolver((solver) => work(decompressorOf(solver, limits)));
}

/** Whether the solver decompresses it. The runtime decompresses the others. */
export const isSolvers = (compression: Compression): boolean => compression === "xz" || compression === "bzip2";

const noOther: OtherDecompressor = (kind) => {
  throw new Error(`the data turned into ${kind}`);
};

const decompressorOf =
  (solver: Solver, { maxBytes, maxRatio }: ExpansionLimits): OtherDecompressor =>
  (kind, compressed) => {
    const decoder = solver.decoder(kind, { maxBytes, maxRatio, memoryBytes: dictionaryBytes });
    return streamOf(decompressed(decoder, compressed), () => compressed.cancel());
  };
