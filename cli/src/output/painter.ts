import type { WriteStream } from "node:tty";

/** Colours on a terminal, and plain text elsewhere. NO_COLOR switches them off: https://no-color.org. */
export class Painter {
  readonly #isOn: boolean;

  constructor({ isTTY }: Pick<WriteStream, "isTTY">) {
    this.#isOn = isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  }

  bold = (text: string): string => this.#in(text, 1, 22);
  dim = (text: string): string => this.#in(text, 2, 22);
  red = (text: string): string => this.#in(text, 31, 39);
  green = (text: string): string => this.#in(text, 32, 39);
  yellow = (text: string): string => this.#in(text, 33, 39);

  #in(text: string, on: number, off: number): string {
    return this.#isOn ? `\u001B[${on}m${text}\u001B[${off}m` : text;
  }
}
