import { expect, it } from "vitest";
import { lineDifference } from "#domain/difference/lines";

const shown = (before: string, after: string) =>
  lineDifference(before, after).map(({ sign, text }) => `${sign}${text}`);

it("shows what was removed and added, with three lines around it", () => {
  const before = "1\n2\n3\n4\nold\n5\n6\n7\n8\n";
  expect(shown(before, before.replace("old", "new"))).toEqual([
    "…",
    " 2",
    " 3",
    " 4",
    "-old",
    "+new",
    " 5",
    " 6",
    " 7",
    "…",
  ]);
});

it.each([
  ["a\n", "a\n", []],
  ["", "a\nb\n", ["+a", "+b"]],
  ["a\nb\n", "", ["-a", "-b"]],
  ["a\nb\nc\n", "a\nc\n", [" a", "-b", " c"]],
  ["a\n", "a\na\n", [" a", "+a"]],
])("compares %j with %j", (before, after, lines) => {
  expect(shown(before, after)).toEqual(lines);
});

const long = (word: string) => Array.from({ length: 600 }, (_, nth) => `${word} ${nth}`).join("\n");

it("replaces all lines of texts that are too long to compare", () => {
  const lines = shown(long("a"), long("b"));
  expect([lines.length, lines[0], lines[600]]).toEqual([1200, "-a 0", "+b 0"]);
});
