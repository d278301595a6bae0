import { describe, expect, it } from "vitest";
import { rangeOf } from "#http/range";

describe("rangeOf", () => {
  it.each([
    ["bytes=0-4", { offset: 0, length: 5 }],
    ["bytes=4-", { offset: 4, length: 6 }],
    ["bytes=8-100", { offset: 8, length: 2 }],
    ["bytes=-3", { offset: 7, length: 3 }],
    ["bytes=-30", { offset: 0, length: 10 }],
    ["bytes = 1 - 2", { offset: 1, length: 2 }],
    ["bytes=10-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=5-4", undefined],
    ["bytes=0-1,4-5", undefined],
    ["bytes=-", undefined],
    ["bytes=a-b", undefined],
    ["lines=0-4", undefined],
    [null, undefined],
  ] as const)("reads %s of ten bytes", (header, expected) => {
    expect(rangeOf(header, 10)).toEqual(expected);
  });

  it("offers nothing from an empty file", () => {
    expect(rangeOf("bytes=0-", 0)).toBe("unsatisfiable");
  });
});
