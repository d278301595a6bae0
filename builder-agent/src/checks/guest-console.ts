import { maxCheckText, maxConsoleEnd } from "../contract.ts";

/*
 * A guest decides what is searched, in pieces of any size, and this thread has other work. So each pattern needs linear
 * time, and of a line that grows only the end is searched again.
 */

/** How much of the current line is searched again when more of it arrives. */
const longestTail = 4096;
/**
 * The login prompt of getty and its relatives, if it ends its line. A message of the kernel, systemd or cloud-init may
 * be printed right after it.
 */
const loginPrompt = /\blogin: ?(?:$|\[ *(?:\d+\.\d+|OK|FAILED) *\]|ci-info: )/;

// log_status and unit_status_printf of systemd: "[  OK  ] Started …", "[FAILED] Failed to start …"
const unitLine = /\[ *(OK|FAILED) *\] (.+)/;
const maxFailedUnits = 20;

/** The output of a guest's serial console as plain text, and the expected texts that have appeared in it. */
export class GuestConsole {
  readonly #decoder = new TextDecoder();
  readonly #wanted: ReadonlySet<string>;
  readonly #shown = new Set<string>();
  readonly #onLogin: () => void;
  readonly #failedUnits = new Set<string>();
  #showsUnits = false;
  #hasLogin = false;
  /** The beginning of a control sequence. */
  #cut = "";
  /** The end of the current line. */
  #tail = "";
  /** The end of the output, in which the beginning of a text may be. */
  #recent = "";
  #text = "";

  /** @param onLogin called once, when a login prompt appears */
  constructor({ texts, onLogin }: { texts: readonly string[]; onLogin: () => void }) {
    this.#wanted = new Set(texts);
    this.#onLogin = onLogin;
  }

  /** A bound function, because it is passed as a callback for QEMU's output. */
  readonly take = (chunk: Buffer): void => {
    const [whole, cut] = withoutCut(this.#cut + this.#decoder.decode(chunk, { stream: true }));
    this.#cut = cut;
    const added = plain(whole);
    // A text may have begun in an earlier piece.
    const searched = this.#recent + added;
    for (const text of this.#wanted) if (searched.includes(text)) this.#shown.add(text);
    this.#recent = searched.slice(-2 * maxCheckText);
    this.#takeLines(added);
    this.#text += added;
    // Pieces may be small, and each cut copies what is left.
    if (this.#text.length > 4 * maxConsoleEnd) this.#text = this.#text.slice(-2 * maxConsoleEnd);
  };

  /** Whether this text, one of `texts`, has appeared. */
  hasShown(text: string): boolean {
    return this.#shown.has(text);
  }

  /** The messages of systemd about units that failed. */
  get failedUnits(): string[] {
    return [...this.#failedUnits];
  }

  /** Whether systemd reports its units on this console. With the kernel argument "quiet" it does not. */
  get showsUnits(): boolean {
    return this.#showsUnits;
  }

  /** The end of the output. */
  get end(): string {
    return this.#text.slice(-maxConsoleEnd);
  }

  /** The last line that is not empty. */
  get lastLine(): string {
    return this.end.trimEnd().split("\n").at(-1) ?? "";
  }

  #takeLines(added: string): void {
    const lines = (this.#tail + added).split("\n");
    for (const line of lines.slice(0, -1)) this.#noteUnit(line);
    // Most prompts wait for an input, so their line has not ended.
    if (!this.#hasLogin && lines.some(hasPrompt)) {
      this.#hasLogin = true;
      this.#onLogin();
    }
    this.#tail = lines.at(-1)?.slice(-longestTail) ?? "";
  }

  #noteUnit(line: string): void {
    const [, state, message = ""] = unitLine.exec(line) ?? [];
    if (state !== undefined) this.#showsUnits = true;
    if (state === "FAILED" && this.#failedUnits.size < maxFailedUnits) this.#failedUnits.add(message.trim());
  }
}

/** The line of a last login is no prompt. */
function hasPrompt(line: string): boolean {
  const at = line.search(/\blogin:/);
  if (at === -1 || line.startsWith("Last login")) return false;
  return loginPrompt.test(line) || line.includes("(automatic login)", at);
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
  raw.replaceAll(sequences, "").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
