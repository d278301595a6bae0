import { StringDecoder } from "node:string_decoder";
import {
  cutWithoutSecrets,
  passwordProgramBytes,
  passwordProgramIn,
  withoutSecrets,
  type Dropped,
} from "./run/secrets.ts";
import { Turns } from "./turns.ts";

/** The limit in bytes. The rest of a longer line is dropped. */
export const longestLine = 4 * 1024;

/**
 * Cuts the output of a program into lines and removes secrets from them. Await each `take` before the next: while other
 * work has its turn, the program has to wait for its pipe.
 */
export function openLines(onLine: (line: string) => void) {
  const line = new Line();
  const turns = new Turns();
  return {
    async take(bytes: Buffer): Promise<void> {
      for (let from = 0; from < bytes.length;) {
        const end = bytes.indexOf("\n", from);
        line.add(bytes.subarray(from, end === -1 ? bytes.length : end));
        if (end !== -1) onLine(line.take());
        from = end === -1 ? bytes.length : end + 1;
        if (turns.isOver()) await turns.next();
      }
    },
    end(): void {
      if (!line.isEmpty()) onLine(line.take());
    },
  };
}

/** Collects one line while its bytes arrive. */
class Line {
  readonly #head = Buffer.alloc(longestLine);
  #length = 0;
  #dropped: Dropped = { bytes: 0 };
  /** The last bytes so far, for a word that arrives in two pieces. */
  #before = "";

  isEmpty(): boolean {
    return this.#length === 0;
  }

  add(bytes: Buffer): void {
    const copied = bytes.copy(this.#head, this.#length);
    this.#length += copied;
    if (copied < bytes.length) this.#drop(bytes.subarray(copied));
  }

  take(): string {
    const length = this.#length;
    this.#length = 0;
    if (this.#dropped.bytes === 0) return withoutSecrets(this.#head.toString("utf8", 0, length));
    const text = new StringDecoder().write(this.#head); // without half a character at its end
    const shown = cutWithoutSecrets(text, this.#dropped);
    this.#dropped = { bytes: 0 };
    return shown;
  }

  #drop(more: Buffer): void {
    const { bytes, program } = this.#dropped;
    const before = bytes === 0 ? this.#head.toString("latin1", longestLine - passwordProgramBytes) : this.#before;
    const text = before + more.toString("latin1");
    this.#before = text.slice(-passwordProgramBytes);
    this.#dropped = { bytes: bytes + more.length, program: program ?? passwordProgramIn(text) };
  }
}
