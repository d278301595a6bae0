import { describe, expect, it } from "vitest";
import { isSame, type Piece } from "../../src/modified/content.ts";

const hole = (length: number): Piece => ({ length, bytes: null });
const data = (text: string): Piece => ({ length: text.length, bytes: Buffer.from(text) });

async function* given(pieces: Piece[]) {
  yield* pieces;
}

const compared = (one: Piece[], other: Piece[], signal = new AbortController().signal) =>
  isSame(given(one), given(other), signal);

describe("the comparison of two contents", () => {
  it.each<[string, Piece[], Piece[]]>([
    ["are empty", [], []],
    ["have the same bytes in other pieces", [data("abc"), data("d")], [data("a"), data("bcd")]],
    ["have holes in other pieces", [hole(2 ** 40), data("a")], [hole(5), hole(2 ** 40 - 5), data("a")]],
    ["have zeros where the other has a hole", [data("\0\0"), hole(2)], [hole(3), data("\0")]],
  ])("finds no difference if both %s", async (_, one, other) => {
    expect(await compared(one, other)).toBe(true);
    expect(await compared(other, one)).toBe(true);
  });

  it.each<[string, Piece[], Piece[]]>([
    ["another byte", [data("abc")], [data("abd")]],
    ["data where the other has a hole", [hole(1), data("\0a")], [hole(3)]],
    ["more bytes", [data("ab")], [data("a")]],
  ])("finds a difference if one has %s", async (_, one, other) => {
    expect(await compared(one, other)).toBe(false);
    expect(await compared(other, one)).toBe(false);
  });

  it("ends when its signal is aborted", async () => {
    await expect(compared([data("a")], [data("a")], AbortSignal.abort(new Error("too late")))).rejects.toThrow("late");
  });
});
