import { FairTurns, type TurnLimits } from "#domain/fair-turns";
import type { Compression, OtherDecompressor } from "#lib/repodata/decompress";
import { RepodataFault } from "#lib/repodata/fault";
import { inTime, streamOf } from "#lib/repodata/streams";
import { decompressed, type ExpansionLimits } from "#lib/solver/decoder";
import { solverModule } from "#lib/solver/module";
import { solverPool } from "#lib/solver/shared";
import { openSolver, type Solver } from "#lib/solver/solver";

/** `xz -9` needs 65 MiB for its dictionary. */
const dictionaryBytes = 66 * 2 ** 20;
const maxOpenedBytes = 512 * 2 ** 20;
const longestMs = 120_000;

const common: TurnLimits = {
  atOnce: 1, // each task may need the memory of a dictionary
  waiting: 16,
  waitingPerKey: 3,
  maxWaitMs: 30_000,
  maxTurnMs: longestMs,
  message:
    "Too many packages compressed with xz or bzip2 are being read at the moment. Wait a few seconds, then try again.",
};
/** Separate turns for single packages, which take milliseconds and so must not wait for archives. */
const turns = { archive: new FairTurns(common), package: new FairTurns(common) };

export interface Opening {
  /** Accounts take turns. */
  accountId: number;
  compression: Compression;
  what: keyof typeof turns;
  limits: ExpansionLimits;
}

/**
 * Runs work that reads data with this compression. The runtime does not support xz and bzip2. Such work takes turns,
 * and gets its own instance of the solver's code, so that no change of a selection has to wait for it.
 */
export async function withDecompressor<T>(
  { accountId, compression, what, limits }: Opening,
  work: (other: OtherDecompressor) => Promise<T>,
): Promise<T> {
  if (!isSolvers(compression)) return work(noOther);
  return turns[what].take(accountId, async () => {
    solverPool.trim(dictionaryBytes);
    const decoders = await openSolver(solverModule);
    try {
      return await inTime(work(decompressorOf(decoders, limits)), longestMs, tookTooLong);
    } finally {
      decoders.close();
    }
  });
}

/** Whether the solver's code decompresses this format. The runtime decompresses the others. */
export const isSolvers = (compression: Compression): boolean => compression === "xz" || compression === "bzip2";

const tookTooLong = () =>
  new RepodataFault(
    "too_large",
    "decompressing it takes too long; send a tarball that is uncompressed, or compressed with zstd",
  );

const noOther: OtherDecompressor = (kind) => {
  throw new Error(`the data became ${kind}`);
};

const decompressorOf =
  (solver: Solver, { maxBytes, maxRatio }: ExpansionLimits): OtherDecompressor =>
  (kind, compressed) => {
    const limits = { maxBytes: Math.min(maxBytes, maxOpenedBytes), maxRatio, memoryBytes: dictionaryBytes };
    return streamOf(decompressed(solver.decoder(kind, limits), compressed), () => compressed.cancel());
  };
