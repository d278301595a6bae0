import { StringDecoder } from "node:string_decoder";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  cutWithoutSecrets,
  passwordProgramBytes,
  passwordProgramIn,
  withoutSecrets,
  type Dropped,
} from "./build/secrets.ts";

/** Longest line in bytes; the rest of a longer one is dropped. */
export const longestLine = 4 * 1024;

/**
 * The longest that lines may occupy this process at a time. Heartbeats run on the same thread, so it then does everything else
 * that is due; what writes the lines meanwhile waits for its pipe.
 */
const turnMs = 5;

/** Cuts what a program writes into lines as it comes, without the secrets in them. Await `take` before the next one. */
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

/** One line while its bytes come. */
class Line {
  readonly #head = Buffer.alloc(longestLine);
  #length = 0;
  #dropped: Dropped = { bytes: 0 };
  /** The bytes before the next ones, for a word that comes in two pieces. */
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
