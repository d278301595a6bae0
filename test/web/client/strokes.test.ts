import { describe, expect, it } from "vitest";
import { strokesOf } from "../../../src/web/client/strokes.ts";

const shown = (text: string) => strokesOf(text).map(({ keysym, shift }) => `${shift ? "^" : ""}${keysym.toString(16)}`);

describe("strokesOf", () => {
  it("holds Shift for what needs it on a US keyboard", () => {
    expect(shown("echo A")).toEqual(["65", "63", "68", "6f", "20", "^41"]);
    expect(shown("a_b:~")).toEqual(["61", "^5f", "62", "^3a", "^7e"]);
    expect(shown("-;'/1")).toEqual(["2d", "3b", "27", "2f", "31"]);
  });

  it("presses Return once at the end of a line, whatever ends it", () => {
    expect(shown("a\r\nb\nc\r")).toEqual(["61", "ff0d", "62", "ff0d", "63", "ff0d"]);
    expect(shown("\t\b\u001b")).toEqual(["ff09", "ff08", "ff1b"]);
  });

  it("sends other characters by their code points", () => {
    expect(shown("é€😀")).toEqual(["e9", "10020ac", "101f600"]);
  });
});
