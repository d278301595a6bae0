import { FairTurns } from "#domain/fair-turns";
import { tooFast } from "#domain/refusal";
import { rest } from "#lib/loop/pace";
import { stalledMs, streamBlob } from "#storage/blob-stream";

/** The receiver of a download. */
export interface Reader {
  /** Undefined if the runtime does not know the address. */
  address: string | undefined;
  accountId?: number | undefined;
}

interface Range {
  offset: number;
  length: number;
}

/** Reads a range of a blob. Null if the blob does not exist. */
export type ReadRange = (range: Range) => Promise<{ body: ReadableStream } | null>;

/** How many simultaneous downloads an address may have, and an account. */
const maxPerReader = 32;
/** The operating system buffers this many bytes of an answer. */
const smallBytes = 2 ** 17;

/**
 * Reading from the simulated R2 blocks the event loop for up to 20 ms. So only one read runs at a time, when no request
 * is waiting. Addresses take turns.
 */
const reads = new FairTurns({
  atOnce: 1,
  waiting: Infinity,
  waitingPerKey: Infinity,
  maxWaitMs: 60_000,
  maxTurnMs: 5_000,
  message: "Too many downloads at the moment. Wait a minute, then try again.",
});

interface Download {
  keys: readonly string[];
  movedAt: number;
}
const running = new Set<Download>();

/**
 * Opens blobs for a reader. If everything runs on one machine, a reader may open several at the same time, and each
 * needs little memory. Agents, which have no reader, may open any number. On Cloudflare, R2's streams and the edge
 * handle slow readers, and each read costs money.
 */
export const openerFor =
  ({ BLOBS: blobs, MODE: mode }: Pick<Env, "BLOBS" | "MODE">, reader?: Reader) =>
  (key: string): ReadRange =>
  async (range) => {
    if (mode !== "embedded" || range.length <= smallBytes) return await blobs.get(key, { range });
    const download = begin(reader);
    let opened: Awaited<ReturnType<ReadRange>> = null;
    const limits = {
      read: <T>(work: () => Promise<T>) =>
        reads.take(download.keys[0] ?? "", async () => {
          await rest();
          return await work();
        }),
      moved: () => (download.movedAt = performance.now()),
      ended: () => running.delete(download),
    };
    try {
      opened = await streamBlob(blobs, { key, ...range }, limits);
    } finally {
      if (!opened) running.delete(download);
    }
    return opened;
  };

function begin(reader: Reader | undefined): Download {
  const now = performance.now();
  // The runtime drops the request of a client that has disconnected, without reporting that its download has ended.
  for (const one of running) if (one.movedAt < now - stalledMs) running.delete(one);
  const keys = reader ? keysOf(reader) : [];
  for (const key of keys) if (countOf(key) >= maxPerReader) throw tooMany();
  const download = { keys, movedAt: now };
  running.add(download);
  return download;
}

const keysOf = ({ address, accountId }: Reader): string[] => [
  ...(address === undefined ? [] : [address]),
  ...(accountId === undefined ? [] : [`account ${accountId}`]),
];

const countOf = (key: string): number => [...running].filter(({ keys }) => keys.includes(key)).length;

const tooMany = () =>
  tooFast(
    stalledMs / 1000,
    `Too many downloads at the same time: ${maxPerReader} are allowed. Wait until some of yours have ended.`,
  );
