import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { constants, createBrotliCompress } from "node:zlib";
import {
  blockSizeOf,
  deltaHead,
  eachHash,
  headerBytes,
  lackingBlocks,
  maxDiskBytes,
  readHashes,
  readHeader,
  type Blocks,
} from "../delta.ts";
import { sha256OfFile } from "../file-hash.ts";
import { readInto } from "../files.ts";
import type { Lease } from "../lease.ts";
import { sentenceOf } from "../log.ts";
import { RemoteRefusal } from "../retry.ts";
import { messageOfThread } from "../thread.ts";
import { PartedFile } from "../upload/parted-file.ts";
import type { UploadFile } from "../upload/upload.ts";
import type { WorkerApi } from "../worker-api.ts";

/** The disk of an earlier image. */
export interface EarlierDisk {
  sha256: string;
  /** The size of its blocks. */
  block: number;
  hashes: ReadonlySet<bigint>;
}

export interface DeltaTarget {
  workDir: string;
  name: string;
  /** Finds the disk of the previous image. */
  earlier: () => Promise<EarlierDisk | undefined>;
  signal: AbortSignal;
}

export interface DiskRead {
  sha256: string;
  /** Undefined if the disk is too large for one. */
  delta?: UploadFile;
}

/** Writes the delta from which a disk can be made. */
export async function writeDelta(disk: string, { workDir, name, earlier, signal }: DeltaTarget): Promise<DiskRead> {
  const { size } = await stat(disk);
  if (size > maxDiskBytes) return { sha256: await sha256OfFile(disk, signal) };
  const [blocks, before] = await Promise.all([blocksOf(disk, blockSizeOf(size), signal), earlier()]);
  const from = before && isWorthwhile(blocks, before) ? before : undefined;
  await using file = await PartedFile.create(workDir, `${name}.delta`);
  await file.write(await deltaHead(blocks, from?.sha256));
  if (from) for await (const bytes of compressedBlocks(disk, blocks, from)) await file.write(bytes);
  signal.throwIfAborted();
  return { sha256: blocks.sha256, delta: await file.end() };
}

const script = new URL("./blocks-thread.ts", import.meta.url);

async function blocksOf(disk: string, block: number, signal: AbortSignal): Promise<Blocks> {
  const { hashes, ...blocks } = await messageOfThread<Blocks>(script, { disk, block }, signal);
  // A message turns a Buffer into a plain Uint8Array.
  return { ...blocks, hashes: Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength) };
}

/** A delta with more than half of the disk's contents would take a lot of space and save little. */
function isWorthwhile({ block, hashes }: Blocks, { block: other, hashes: earlier }: EarlierDisk): boolean {
  if (block !== other) return false;
  const contents = countOf(lackingBlocks(hashes, new Set()));
  return countOf(lackingBlocks(hashes, earlier)) <= contents / 2;
}

function countOf(numbers: Iterable<number>): number {
  let count = 0;
  for (const _ of numbers) count += 1;
  return count;
}

/** Brotli, because every Node has it, and so `kiln` needs no other program. */
const compression = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
};

function compressedBlocks(disk: string, { block, hashes }: Blocks, earlier: EarlierDisk): AsyncIterable<Buffer> {
  return Readable.from(literalBlocks(disk, lackingBlocks(hashes, earlier.hashes), block)).compose(
    createBrotliCompress(compression),
  );
}

async function* literalBlocks(disk: string, numbers: Iterable<number>, size: number): AsyncGenerator<Buffer> {
  await using file = await open(disk);
  for (const number of numbers) {
    const block = Buffer.alloc(size);
    yield block.subarray(0, await readInto(file, block, number * size));
  }
}

/** How long a build waits for the hashes of the earlier disk. */
const patienceMs = 60_000;

/** The disk of the previous image. Undefined if there is none or it cannot be read: a delta never fails a build. */
export async function earlierDisk(
  api: Pick<WorkerApi, "readEarlierDelta">,
  { lease, signal, onNote }: { lease: Lease; signal: AbortSignal; onNote: (note: string) => void },
): Promise<EarlierDisk | undefined> {
  try {
    const answer = await api.readEarlierDelta(lease, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
    return answer.body ? await hashesIn(answer.body) : undefined;
  } catch (error) {
    signal.throwIfAborted();
    const isThere = !(error instanceof RemoteRefusal) || error.status !== 404;
    if (isThere) onNote(`made no delta, because the earlier one could not be read: ${sentenceOf(error)}`);
    return undefined;
  }
}

/** Reads a delta up to the end of its hashes. */
async function hashesIn(delta: AsyncIterable<Uint8Array>): Promise<EarlierDisk> {
  let read = Buffer.alloc(0);
  for await (const bytes of delta) {
    read = Buffer.concat([read, bytes]);
    const found = readHeader(read);
    if (!found && read.length >= headerBytes) throw new Error("it has no header");
    if (!found || read.length < found.bytes + found.header.hashes) continue;
    const { header, bytes: start } = found;
    const hashes = await readHashes(header, read.subarray(start, start + header.hashes));
    return { sha256: header.disk.sha256, block: header.block, hashes: new Set(eachHash(hashes)) };
  }
  throw new Error("it ended too early");
}
