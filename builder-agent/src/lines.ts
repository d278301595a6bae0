import { StringDecoder } from "node:string_decoder";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  cutWithoutSecrets,
  passwordProgramBytes,
  passwordProgramIn,
  withoutSecrets,
  type Dropped,
} from "./run/secrets.ts";

/** The limit in bytes. The rest of a longer line is dropped. */
export const longestLine = 4 * 1024;

/**
 * How long lines may occupy this thread before other work, such as heartbeats, gets a turn. During that turn, the
 * program that writes the lines has to wait for its pipe.
 */
const turnMs = 5;

/** Cuts the output of a program into lines and removes secrets from them. Await each `take` before the next. */
export function openLines(onLine: (line: string) => void) {
  const line = new Line();
  let turnEnds = 0;
  const pause = async () => {
    await nextTurn();
    turnEnds = performance.now() + turnMs;
  };
  return {
    async take(bytes: Buffer): Promise<void> {
      for (let from = 0; from < bytes.length;) {
        const end = bytes.indexOf("\n", from);
        line.add(bytes.subarray(from, end === -1 ? bytes.length : end));
        if (end !== -1) onLine(line.take());
        from = end === -1 ? bytes.length : end + 1;
        if (performance.now() >= turnEnds) await pause();
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
