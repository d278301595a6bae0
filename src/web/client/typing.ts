import { strokesOf, type Stroke } from "./strokes.ts";

const keys: Readonly<Record<string, string>> = { Backspace: "\b", Tab: "\t", Enter: "\n", Escape: "\u001b" };
// A machine without KVM reads its keyboard slowly, and loses keys when its queue of 16 is full.
const strokeEveryMs = 15;

/** Types texts one after the other, no faster than a machine can read them. */
export class Typist {
  readonly #send: (stroke: Stroke) => void;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(send: (stroke: Stroke) => void) {
    this.#send = send;
  }

  type(text: string): void {
    this.#waiting.push(...text.replaceAll(/\r\n?/g, "\n"));
    this.#timer ??= setInterval(() => this.#next(), strokeEveryMs);
    this.#next();
  }

  /** Stops typing. Returns the text that is not typed yet. */
  stop(): string {
    const rest = this.#waiting.join("");
    this.#waiting = [];
    return rest;
  }

  #next(): void {
    const character = this.#waiting.shift();
    if (character !== undefined) {
      for (const stroke of strokesOf(character)) this.#send(stroke);
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The parts of a text field that are used here, so that a test needs no browser. */
export interface TextField {
  value: string;
  addEventListener(type: "keydown", listener: (event: { key: string; preventDefault(): void }) => void): void;
  addEventListener(type: "input", listener: () => void): void;
}

/**
 * Types what a touch screen's keyboard enters into a text field. A space stays in the field, because some keyboards
 * report no Backspace in an empty one.
 */
export function typeFrom(field: TextField, typist: Typist): void {
  field.value = " ";
  field.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (key === undefined) return;
    event.preventDefault();
    typist.type(key);
  });
  field.addEventListener("input", () => {
    const text = field.value;
    typist.type(text === "" ? "\b" : text.slice(1));
    field.value = " ";
  });
}
