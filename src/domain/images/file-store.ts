import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { FileEntry, FileTable, maxBlockBytes, maxTableBytes, orderOf, pointerBytes } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import { logFailure } from "#log/log";

/** A blob of a file store (contract/file-store.ts) in R2. */
export interface StoredBlob {
  key: string;
  size: number;
}

type Block = FileTable["blocks"][number];

/** The size of the end of an index, which is read in one request. The table for 100,000 files fits into it. */
const tailBytes = 64 * 1024;

/** How many blocks one request reads if all are needed: one MiB when unpacked. */
const blocksAtOnce = 16;

/**
 * The index of a file store. Finding a path costs reading one block; the first path also costs reading the table. The
 * contents came from an agent, so they are checked.
 */
export class FileIndex {
  readonly #blobs: R2Bucket;
  readonly #blob: StoredBlob;
  readonly #blocks: Block[];
  readonly #read = new Map<Block, FileEntry[]>();

  private constructor(blobs: R2Bucket, blob: StoredBlob, blocks: Block[]) {
    this.#blobs = blobs;
    this.#blob = blob;
    this.#blocks = blocks;
  }

  static async open(blobs: R2Bucket, blob: StoredBlob): Promise<FileIndex> {
    const tailAt = Math.max(0, blob.size - tailBytes);
    const tail = await bytesOf(blobs, blob, { offset: tailAt, length: blob.size - tailAt });
    const end = blob.size - pointerBytes;
    const at = parsed(blob, z.coerce.number().int().min(0).max(end), () => textOf(tail.subarray(-pointerBytes), 16));
    const packed =
      at >= tailAt
        ? tail.subarray(at - tailAt, end - tailAt)
        : await bytesOf(blobs, blob, { offset: at, length: within(blob, end - at, maxTableBytes) });
    const { blocks } = parsed(blob, FileTable, () => JSON.parse(textOf(packed, maxTableBytes)));
    return new FileIndex(blobs, blob, blocks);
  }

  /** The last entry at or before `path`. */
  async entryBefore(path: string): Promise<FileEntry | undefined> {
    const order = orderOf(path);
    const block = this.#blocks.findLast(({ first }) => orderOf(first) <= order);
    const entries = block && (await this.#entriesOf(block));
    return entries?.findLast((entry) => orderOf(entry.path) <= order);
  }

  /**
   * All entries from this position on, in the index's order (`orderOf`). Reads a few blocks at a time, and caches none.
   */
  async *entriesFrom(order: string): AsyncGenerator<FileEntry> {
    const start = this.#blocks.findLastIndex(({ first }) => orderOf(first) <= order);
    let before = "";
    for (let nth = Math.max(0, start); nth < this.#blocks.length; nth += blocksAtOnce) {
      for (const entry of await this.#entriesIn(this.#blocks.slice(nth, nth + blocksAtOnce))) {
        const at = orderOf(entry.path);
        if (at <= before) throw unreadable(this.#blob, `${entry.path} is out of order`);
        before = at;
        if (at >= order) yield entry;
      }
    }
  }

  async #entriesOf(block: Block): Promise<FileEntry[]> {
    const known = this.#read.get(block);
    if (known) return known;
    const length = within(this.#blob, block.length, maxBlockBytes);
    const packed = await bytesOf(this.#blobs, this.#blob, { offset: block.offset, length });
    const entries = this.#unpacked(packed);
    this.#read.set(block, entries);
    return entries;
  }

  /** The entries of consecutive blocks. */
  async #entriesIn(blocks: readonly Block[]): Promise<FileEntry[]> {
    const offset = blocks[0]?.offset ?? 0;
    const length = blocks.reduce((sum, block) => sum + within(this.#blob, block.length, maxBlockBytes), 0);
    const packed = await bytesOf(this.#blobs, this.#blob, { offset, length });
    let at = 0;
    return blocks.flatMap((block) => {
      if (block.offset !== offset + at) throw unreadable(this.#blob, "there is a gap between its blocks");
      at += block.length;
      return this.#unpacked(packed.subarray(at - block.length, at));
    });
  }

  #unpacked(packed: Uint8Array): FileEntry[] {
    const lines = () => textOf(packed, maxBlockBytes).trimEnd().split("\n");
    return parsed(this.#blob, z.array(FileEntry), () => lines().map((line) => JSON.parse(line)));
  }
}

/** All files of an image at or below `path`, beginning after `after`. */
export async function* entriesIn(
  index: Pick<FileIndex, "entriesFrom">,
  path: string,
  after?: string,
): AsyncGenerator<FileEntry> {
  const order = orderOf(path);
  const below = path === "/" ? order : `${order}\0`;
  // Nothing sorts between a key and the same key followed by NUL.
  const start = after === undefined ? order : `${orderOf(after)}\0`;
  for await (const entry of index.entriesFrom(start > order ? start : order)) {
    const at = orderOf(entry.path);
    if (at !== order && !at.startsWith(below)) return;
    yield entry;
  }
}

/** Treats an unreadable store as missing. The log has the reason. */
export function unreadable({ key }: StoredBlob, why: unknown): Refusal {
  logFailure("could not read a file store", why, { key });
  return new Refusal("raw_image_unavailable");
}

async function bytesOf(
  blobs: R2Bucket,
  blob: StoredBlob,
  range: { offset: number; length: number },
): Promise<Uint8Array> {
  if (range.offset + range.length > blob.size) throw unreadable(blob, "a range is after its end");
  const found = await blobs.get(blob.key, { range });
  if (!found) throw unreadable(blob, "it is gone");
  return await found.bytes();
}

function parsed<T>(blob: StoredBlob, schema: z.ZodType<T>, read: () => unknown): T {
  try {
    return schema.parse(read());
  } catch (error) {
    throw unreadable(blob, error);
  }
}

function within(blob: StoredBlob, bytes: number, most: number): number {
  if (bytes > most) throw unreadable(blob, `a read of ${bytes} bytes is too large`);
  return bytes;
}

/** Unpacks a gzip member. Throws if its content is larger than the limit. */
const textOf = (packed: Uint8Array, maxOutputLength: number): string =>
  gunzipSync(packed, { maxOutputLength }).toString("utf8");
