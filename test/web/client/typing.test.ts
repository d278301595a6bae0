import { expect, it } from "vitest";
import { typeFrom, Typist, type TextField } from "../../../src/web/client/typing.ts";

interface Key {
  key: string;
  preventDefault(): void;
}

class Field implements TextField {
  value = "";
  readonly #listeners = new Map<string, (event: Key) => void>();

  addEventListener(type: string, listener: (event: Key) => void): void {
    this.#listeners.set(type, listener);
  }

  /** Returns whether the page must not see the key. */
  press(key: string): boolean {
    let isKept = false;
    this.#listeners.get("keydown")?.({ key, preventDefault: () => void (isKept = true) });
    return isKept;
  }

  enter(value: string): void {
    this.value = value;
    this.#listeners.get("input")?.({ key: "", preventDefault: () => {} });
  }
}

/** A field, and the keys that it types, as their numbers in VNC. */
function fieldWithTypist() {
  const sent: number[] = [];
  const field = new Field();
  typeFrom(field, new Typist(({ keysym }) => void sent.push(keysym)));
  return { field, sent };
}

it.each([
  ["Enter", 0xff0d],
  ["Tab", 0xff09],
  ["Escape", 0xff1b],
  ["Backspace", 0xff08],
])("types %s at once, and keeps it from the page", (key, keysym) => {
  const { field, sent } = fieldWithTypist();
  expect([field.press(key), sent]).toEqual([true, [keysym]]);
});

it("leaves other keys to the field", () => {
  const { field, sent } = fieldWithTypist();
  expect([field.press("a"), sent]).toEqual([false, []]);
});

it.each([
  ["a letter", " a", 0x61],
  ["a Backspace that shows only in the text", "", 0xff08],
])("types %s, and keeps a space in the field", (_what, value, keysym) => {
  const { field, sent } = fieldWithTypist();
  field.enter(value);
  expect([sent, field.value]).toEqual([[keysym], " "]);
});

it("stops when the connection is lost, and gives the rest back", () => {
  const sent: number[] = [];
  const typist = new Typist(({ keysym }) => void sent.push(keysym));
  typist.type("a🔥\r\nb");
  expect([typist.stop(), sent, typist.stop()]).toEqual(["🔥\nb", [0x61], ""]);
});
