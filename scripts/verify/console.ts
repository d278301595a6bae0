import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** The number of characters of a machine's output that are stored. */
const maxCharacters = 4 * 1024 * 1024;
const shownCharacters = 400;
/** While a serial line passes from getty to login and to a shell, characters that arrive may be lost. */
const beforeTypingMs = 2_000;

/** The serial line of a machine, for reading its output and typing. */
export class SerialConsole {
  #said = "";
  readonly #keyboard: Writable;
  readonly #beforeTypingMs: number;
  readonly #listeners = new Set<() => void>();
  #hasEnded = false;

  constructor(screen: Readable, keyboard: Writable, typing = { afterMs: beforeTypingMs }) {
    this.#keyboard = keyboard;
    this.#beforeTypingMs = typing.afterMs;
    keyboard.on("error", () => {}); // the machine is gone, which `says` reports
    screen.on("data", (bytes: Buffer) => {
      this.#said = (this.#said + bytes.toString("latin1").replaceAll("\r", "")).slice(-maxCharacters);
      this.#notify();
    });
    screen.on("close", () => {
      this.#hasEnded = true;
      this.#notify();
    });
  }

  /** Waits until the machine prints this after the position `from`, and returns the match. */
  async says(what: RegExp, { within, from = 0 }: { within: number; from?: number }): Promise<RegExpExecArray> {
    const late = sleep(within * 1000, "late", { ref: false });
    for (;;) {
      const found = what.exec(this.#said.slice(from));
      if (found) return found;
      if (this.#hasEnded) throw new Error(`The machine ended. ${this.#last()}`);
      if ((await Promise.race([late, this.#news()])) === "late")
        throw new Error(`After ${within} s there is no ${what.source} on the serial line. ${this.#last()}`);
    }
  }

  /** Types a line. Returns the position where the answer begins. */
  async type(line: string): Promise<number> {
    await sleep(this.#beforeTypingMs);
    const from = this.#said.length;
    this.#keyboard.write(`${line}\n`);
    return from;
  }

  #last(): string {
    return `It printed last: ${this.#said.slice(-shownCharacters)}`;
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#listeners.add(resolve));
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
