import { maxCheckText, maxConsoleEnd } from "../contract.ts";

const pauseMs = 200;
/** The size of a piece that is searched, together with the end of the previous piece. */
const chunkLength = 4096;
/** The login prompt of getty and its relatives. The line of a last login is not one. */
const loginPrompt = /(?:^|\n)(?!Last login)[^\n]*\blogin: ?(?:\n|$|[^\n]*\(automatic login\))/;

// log_status and unit_status_printf of systemd: "[  OK  ] Started …", "[FAILED] Failed to start …"
const unitLine = /\[ *(OK|FAILED) *\] ([^\n]+)\n/g;
const maxFailedUnits = 20;

/** The output of a guest's serial console as plain text, and the expected texts that have appeared in it. */
export class GuestConsole implements Disposable {
  readonly #decoder = new TextDecoder();
  readonly #timer = setInterval(() => this.#search(), pauseMs);
  readonly #wanted: ReadonlySet<string>;
  readonly #shown = new Set<string>();
  readonly #onLogin: () => void;
  readonly #failedUnits = new Set<string>();
  #showsUnits = false;
  #hasLogin = false;
  #raw = "";
  #text = "";

  /** @param onLogin called once, when a login prompt appears */
  constructor({ texts, onLogin }: { texts: readonly string[]; onLogin: () => void }) {
    this.#wanted = new Set(texts);
    this.#onLogin = onLogin;
  }

  /** A bound function, because it is passed as a callback for QEMU's output. */
  readonly take = (chunk: Buffer): void => {
    this.#raw += this.#decoder.decode(chunk, { stream: true });
    if (this.#raw.length > chunkLength) this.#search();
  };

  /** Whether this text, one of `texts`, has appeared. */
  hasShown(text: string): boolean {
    this.#search();
    return this.#shown.has(text);
  }

  /** The messages of systemd about units that failed. */
  get failedUnits(): string[] {
    this.#search();
    return [...this.#failedUnits];
  }

  /** Whether systemd reports its units on this console. With the kernel argument "quiet" it does not. */
  get showsUnits(): boolean {
    this.#search();
    return this.#showsUnits;
  }

  /** The end of the output. */
  get end(): string {
    this.#search();
    return this.#text.slice(-maxConsoleEnd);
  }

  /** The last line that is not empty. */
  get lastLine(): string {
    return this.end.trimEnd().split("\n").at(-1) ?? "";
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #search(): void {
    if (this.#raw === "") return;
    const [whole, rest] = withoutCut(this.#raw);
    this.#raw = rest;
    // A text or a prompt may have begun in the previous piece.
    const before = this.#text.slice(-2 * maxCheckText);
    const added = plain(whole);
    for (const text of this.#wanted) if ((before + added).includes(text)) this.#shown.add(text);
    this.#noteUnits(before + added);
    if (!this.#hasLogin && loginPrompt.test(before + added)) {
      this.#hasLogin = true;
      this.#onLogin();
    }
    this.#text = (this.#text + added).slice(-2 * maxConsoleEnd);
  }

  #noteUnits(text: string): void {
    for (const [, state, message = ""] of text.matchAll(unitLine)) {
      this.#showsUnits = true;
      if (state === "FAILED" && this.#failedUnits.size < maxFailedUnits) this.#failedUnits.add(message.trim());
    }
  }
}

/** Splits off an incomplete control sequence at the end, to wait for the rest of it. */
function withoutCut(raw: string): [whole: string, rest: string] {
  const start = raw.lastIndexOf("\u001b");
  const isCut = start >= 0 && raw.length - start < 64 && !sequence.test(raw.slice(start));
  return isCut ? [raw.slice(0, start), raw.slice(start)] : [raw, ""];
}

// ECMA-48: control sequences, operating system commands, and escapes of two characters.
const sequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z\\^-~])/;
const sequences = new RegExp(sequence.source, "g");

const plain = (raw: string): string =>
  raw
    .replaceAll(sequences, "")
    .replaceAll(/\r+\n/g, "\n")
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
