import { maxLogChunkBytes } from "#lib/contract/index";
import { bringTables } from "./tables.ts";

/** The maximum size of a log in bytes. The rest is dropped. */
export const maxLogBytes = 64 * 1024 * 1024;

/** How long a reader counts as watching after a read: longer than readers wait between two reads. */
const readForMs = 60_000;

/** The counts as they were last stored. Each row written since then adds its bytes to both. */
interface Meta {
  /** The writing attempt, and how many of its bytes have arrived. */
  attempt: number;
  received: number;
  /** Bytes of the whole log, of all attempts. */
  length: number;
  cut: boolean;
}

const tables = ["CREATE TABLE IF NOT EXISTS log (start INTEGER PRIMARY KEY, bytes BLOB NOT NULL)"];
const empty: Meta = { attempt: 1, received: 0, length: 0, cut: false };

/** The offset of the next bytes, and whether a reader is watching the log. */
export type Growth = { nextOffset: number; watched?: true };

/**
 * The log of a running build, in rows of at most 64 KiB with their offsets. Attempts write one after another. Each
 * agent counts its own bytes from 0. A chunk that it sends twice is stored once.
 */
export class BuildLog {
  readonly #storage: DurableObjectStorage;
  readonly #blobs: R2Bucket;
  /** When the log was last read. Only in memory, because readers soon read again. */
  #readAt = -Infinity;

  constructor(storage: DurableObjectStorage, blobs: R2Bucket) {
    this.#storage = storage;
    this.#blobs = blobs;
    this.makeTables();
  }

  /** Creates the tables, also after all storage was deleted: a restored database can bring the build back. */
  makeTables(): void {
    bringTables(this.#storage.sql, "log", tables);
  }

  get length(): number {
    return this.#meta.length;
  }

  /** The key of the blob with the whole log, once the build has ended. */
  get archive(): string | undefined {
    return this.#storage.kv.get<string>("log archive");
  }

  noteReader(): void {
    this.#readAt = Date.now();
  }

  get isRead(): boolean {
    return Date.now() - this.#readAt < readForMs;
  }

  /**
   * Adds an attempt's bytes at `offset`. Returns the offset of the next bytes, which is below `offset` if bytes before
   * it are missing.
   */
  append(attempt: number, offset: number, bytes: Uint8Array): number {
    const current = this.#meta;
    const meta = attempt === current.attempt ? current : this.#begin(attempt);
    if (offset > meta.received) return meta.received;
    const fresh = bytes.subarray(meta.received - offset);
    if (fresh.byteLength > 0) this.#write({ ...meta, received: meta.received + fresh.byteLength }, fresh);
    return meta.received + fresh.byteLength;
  }

  /** The bytes from `offset` on, at most `maxBytes` of them. */
  async read(offset: number, maxBytes: number): Promise<Uint8Array> {
    const length = Math.min(maxBytes, this.length - offset);
    if (length <= 0) return nothing;
    if (this.archive === undefined) return this.#rows(offset, length);
    const blob = await this.#blobs.get(this.archive, { range: { offset, length } });
    return blob ? await blob.bytes() : nothing;
  }

  /** Moves the rows of a complete log into one blob. */
  async moveTo(key: string): Promise<void> {
    if (this.archive !== undefined) return;
    const fixed = new FixedLengthStream(this.length);
    await Promise.all([
      this.#blobs.put(key, fixed.readable, { httpMetadata: { contentType: "text/plain; charset=utf-8" } }),
      this.#copyTo(fixed.writable.getWriter()),
    ]);
    this.#storage.kv.put("log", this.#meta);
    this.#storage.kv.put("log archive", key);
    this.#storage.sql.exec("DELETE FROM log");
  }

  #rows(offset: number, maxBytes: number): Uint8Array {
    const rows = this.#storage.sql.exec<{ start: number; bytes: ArrayBuffer }>(
      "SELECT start, bytes FROM log WHERE start > ? AND start < ? ORDER BY start",
      offset - maxRowBytes,
      offset + maxBytes,
    );
    const pieces = [...rows].map(({ start, bytes }) => {
      const [from, to] = [Math.max(0, offset - start), Math.min(bytes.byteLength, offset + maxBytes - start)];
      return new Uint8Array(bytes).subarray(Math.min(from, bytes.byteLength), to);
    });
    return concat(pieces);
  }

  get #meta(): Meta {
    const stored = this.#storage.kv.get<Meta>("log") ?? empty;
    const more = Math.max(0, this.#lastRow.end - stored.length);
    return { ...stored, received: stored.received + more, length: stored.length + more };
  }

  /** The positions where the last row starts and ends. */
  get #lastRow(): { start: number; end: number } {
    const last = 'SELECT start, start + length(bytes) AS "end" FROM log ORDER BY start DESC LIMIT 1';
    return this.#storage.sql.exec<{ start: number; end: number }>(last).toArray()[0] ?? { start: 0, end: 0 };
  }

  /** The log of a lost attempt stays; the next one starts on a new line. */
  #begin(attempt: number): Meta {
    const before = this.#meta;
    const isMidLine = before.length > 0 && this.#rows(before.length - 1, 1)[0] !== newline;
    const line = encode(`${isMidLine ? "\n" : ""}---- attempt ${attempt} ----\n`);
    if (before.length > 0) this.#write(before, line);
    const begun = { ...this.#meta, attempt, received: 0 };
    this.#storage.kv.put("log", begun);
    return begun;
  }

  /** Stores bytes. In `meta`, `received` already counts them, and `length` does not. */
  #write(meta: Meta, bytes: Uint8Array): void {
    const kept = meta.cut ? nothing : cutAt(maxLogBytes - meta.length, bytes);
    if (kept.byteLength > 0) this.#writeRow(meta.length, kept);
    const cut = meta.cut || kept.byteLength !== bytes.byteLength;
    // Otherwise the row is enough. A second write for each chunk would be most of the object's writes.
    if (cut) this.#storage.kv.put("log", { ...meta, length: meta.length + kept.byteLength, cut });
  }

  /** Adds to the last row while that has room, because each row costs again when the log is archived. */
  #writeRow(at: number, bytes: Uint8Array): void {
    const { start, end } = this.#lastRow;
    const hasRoom = start < end && end === at && end - start + bytes.byteLength <= maxLogChunkBytes;
    if (hasRoom) {
      const joined = concat([this.#rows(start, end - start), bytes]);
      this.#storage.sql.exec("UPDATE log SET bytes = ? WHERE start = ?", joined, start);
    } else this.#storage.sql.exec("INSERT INTO log (start, bytes) VALUES (?, ?)", at, bytes);
  }

  async #copyTo(writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    const end = this.length;
    for (let offset = 0; offset < end;) {
      const bytes = this.#rows(offset, 1024 * 1024);
      if (bytes.byteLength === 0) throw new Error(`the log has ${end} bytes, but none at ${offset}`);
      await writer.write(bytes);
      offset += bytes.byteLength;
    }
    await writer.close();
  }
}

const newline = 10;
const nothing = new Uint8Array();
const encode = (text: string) => new TextEncoder().encode(text);
const cutNote = encode(`\n---- the log was cut here: it is longer than ${maxLogBytes / 1024 ** 2} MiB ----\n`);
/** The size of a chunk, with the note after the last one. */
const maxRowBytes = maxLogChunkBytes + cutNote.byteLength;

const cutAt = (room: number, bytes: Uint8Array) =>
  bytes.byteLength <= room ? bytes : concat([bytes.subarray(0, Math.max(0, room)), cutNote]);

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
