import { gzipSync } from "node:zlib";
import { blockBytes, orderOf, pointerText, type FileEntry, type FileTable } from "../contract.ts";

/** Makes the index of a file store (contract/file-store.ts). Holds it in memory, packed to about 15 bytes per entry. */
export class FileIndexWriter {
  readonly #packed: Buffer[] = [];
  readonly #blocks: FileTable["blocks"] = [];
  #lines: string[] = [];
  #first = "";
  #last: string | undefined;
  #textBytes = 0;
  #offset = 0;
  entries = 0;

  add(entry: FileEntry): void {
    const order = orderOf(entry.path);
    if (this.#last !== undefined && order <= this.#last) throw new Error(`${entry.path} comes too late for the index`);
    this.#last = order;
    this.entries += 1;
    if (this.#lines.length === 0) this.#first = entry.path;
    const line = `${JSON.stringify(entry)}\n`;
    this.#lines.push(line);
    this.#textBytes += Buffer.byteLength(line);
    if (this.#textBytes >= blockBytes) this.#endBlock();
  }

  /** The whole index, after the last entry. */
  end(): Buffer[] {
    if (this.#lines.length > 0) this.#endBlock();
    const table: FileTable = { formatVersion: 1, blocks: this.#blocks };
    const pointer = pointerText(this.#offset);
    // Stored, not deflated, so that its length never changes.
    return [...this.#packed, gzipSync(`${JSON.stringify(table)}\n`), gzipSync(pointer, { level: 0 })];
  }

  #endBlock(): void {
    const packed = gzipSync(this.#lines.join(""));
    this.#blocks.push({ first: this.#first, offset: this.#offset, length: packed.length });
    this.#packed.push(packed);
    this.#offset += packed.length;
    this.#lines = [];
    this.#textBytes = 0;
  }
}
