/** An in-memory file that the WASM module opens by a number. */
export type MemoryFile =
  | { kind: "readable"; bytes: Uint8Array; position: number }
  | { kind: "writable"; chunks: Uint8Array[]; lengthBytes: number };

// 0, 1 and 2 are standard input, output and errors.
const firstNumber = 3;

export class MemoryFiles {
  readonly #files = new Map<number, MemoryFile>();
  #next = firstNumber;

  find(number: number): MemoryFile | undefined {
    return this.#files.get(number);
  }

  /** Makes the bytes readable by a number, until `remove`. They are not copied. */
  offer(bytes: Uint8Array): number {
    return this.#add({ kind: "readable", bytes, position: 0 });
  }

  /** Creates an empty file for writing. */
  create(): number {
    return this.#add({ kind: "writable", chunks: [], lengthBytes: 0 });
  }

  /** Removes the file and returns what was written to it. */
  take(number: number): Uint8Array<ArrayBuffer> {
    const file = this.#files.get(number);
    this.remove(number);
    return file?.kind === "writable" ? joined(file.chunks, file.lengthBytes) : new Uint8Array();
  }

  remove(number: number): void {
    this.#files.delete(number);
  }

  get heldBytes(): number {
    const files = [...this.#files.values()];
    return files.reduce((sum, file) => sum + (file.kind === "readable" ? file.bytes.length : file.lengthBytes), 0);
  }

  clear(): void {
    this.#files.clear();
  }

  #add(file: MemoryFile): number {
    this.#files.set(this.#next, file);
    return this.#next++;
  }
}

/** Copies the bytes at `position` into `target`, and returns their number, 0 at the end. */
export function readAt(bytes: Uint8Array, position: number, target: Uint8Array): number {
  const found = bytes.subarray(position, position + target.length);
  target.set(found);
  return found.length;
}

function joined(chunks: readonly Uint8Array[], lengthBytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(lengthBytes);
  let position = 0;
  for (const chunk of chunks) {
    whole.set(chunk, position);
    position += chunk.length;
  }
  return whole;
}
