import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { createBrotliDecompress } from "node:zlib";
import { chunkBytes, eachHash, hashBytes, readHashes, zeroHash, type DeltaHeader } from "../delta.ts";
import type { EarlierDisk } from "./earlier-disk.ts";

/** A downloaded delta. */
export interface StoredDelta {
  file: string;
  header: DeltaHeader;
  /** The size of the header. */
  headerBytes: number;
}

/** Blocks that follow each other, both in the new disk and where they come from. */
type Run = { blocks: number } & ({ from: "zeros" | "delta" } | { from: "earlier"; first: number });

/** Writes the disk that a delta makes from an earlier one. Returns its SHA-256, which may not be the wanted one. */
export async function rebuildDisk(
  earlier: Pick<EarlierDisk, "file" | "blocks">,
  { file, header, headerBytes }: StoredDelta,
  into: string,
): Promise<string> {
  await using packed = await open(file);
  const compressed = await readAt(packed, headerBytes, header.hashes);
  const hashes = await readHashes(header, compressed);
  await using source = await open(earlier.file);
  await using target = await open(into, "w", 0o644);
  await using literals = literalsOf(file, headerBytes + header.hashes);
  const { block } = header;
  const { size } = header.disk;
  await target.truncate(size);
  const whole = createHash("sha256");
  let at = 0;
  for (const run of runsOf(hashes, earlier.blocks.hashes, chunkBytes / block)) {
    const length = Math.min(run.blocks * block, size - at);
    const bytes = await bytesOf(run, length, { source, literals, block });
    whole.update(bytes);
    // The file is sparse, so that zeros take no space.
    if (run.from !== "zeros") await writeAt(target, bytes, at);
    at += length;
  }
  return whole.digest("hex");
}

const bytesOf = async (
  run: Run,
  length: number,
  { source, literals, block }: { source: FileHandle; literals: Literals; block: number },
): Promise<Buffer> => {
  if (run.from === "earlier") return await readAt(source, run.first * block, length);
  return run.from === "zeros" ? Buffer.alloc(length) : await literals.take(length);
};

/** The sources of the new disk's blocks, in pieces that are small enough for memory. */
function* runsOf(hashes: Buffer, earlier: Buffer, most: number): Generator<Run> {
  const places = placesOf(earlier);
  let run: Run | undefined;
  for (const hash of eachHash(hashes)) {
    const next = run?.from === "earlier" ? run.first + run.blocks : -1;
    const place = hashAt(earlier, next) === hash ? next : places.get(hash);
    const from = hash === zeroHash ? "zeros" : place === undefined ? "delta" : "earlier";
    const continues = run?.from === from && (from !== "earlier" || place === next);
    if (run && continues && run.blocks < most) run.blocks += 1;
    else {
      if (run) yield run;
      run = from === "earlier" ? { from, first: place ?? 0, blocks: 1 } : { from, blocks: 1 };
    }
  }
  if (run) yield run;
}

/** A block with each hash. */
function placesOf(hashes: Buffer): Map<bigint, number> {
  const places = new Map<bigint, number>();
  let number = 0;
  for (const hash of eachHash(hashes)) {
    if (hash !== zeroHash) places.set(hash, number);
    number += 1;
  }
  return places;
}

/** The hash of the block with that number. Undefined if there is none. */
const hashAt = (hashes: Buffer, number: number): bigint | undefined =>
  number >= 0 && (number + 1) * hashBytes <= hashes.length ? hashes.readBigUInt64LE(number * hashBytes) : undefined;

interface Literals extends AsyncDisposable {
  /** The next bytes. */
  take(length: number): Promise<Buffer>;
}

/** The blocks in a delta, from the first to the last. */
function literalsOf(file: string, start: number): Literals {
  const packed = createReadStream(file, { start });
  const stream = packed.pipe(createBrotliDecompress());
  packed.on("error", (error) => stream.destroy(error));
  const pieces = stream[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  return {
    take: async (length) => {
      while (rest.length < length) {
        const piece = await pieces.next();
        if (piece.done) throw new Error("it ended too early");
        rest = Buffer.concat([rest, piece.value]);
      }
      const taken = rest.subarray(0, length);
      rest = rest.subarray(length);
      return taken;
    },
    [Symbol.asyncDispose]: async () => {
      packed.destroy();
      stream.destroy();
    },
  };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new Error("the earlier disk is too short");
    done += bytesRead;
  }
  return bytes;
}

async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
