import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { unifiedDifference } from "../../src/modified/text-difference.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-difference-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const names = ["a/x", "b/x"] as const;

/** The output of patch for the old text. */
function patched(before: string, difference: string): string {
  const [old, script, result] = ["old", "difference", "new"].map((name) => join(dir, name));
  writeFileSync(old ?? "", before);
  writeFileSync(script ?? "", difference);
  execFileSync("patch", ["--quiet", "--output", result ?? "", old ?? "", script ?? ""]);
  return readFileSync(result ?? "", "utf8");
}

/** The same pseudo-random numbers in each run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

const textOf = (word: string) => Array.from({ length: 8_000 }, (_, at) => `${word}${at}\n`).join("");

describe("unifiedDifference", () => {
  it("is empty for equal texts", () => {
    expect(unifiedDifference("a\nb", "a\nb", names)).toBe("");
  });

  it("has three lines of context, and one hunk for nearby changes", () => {
    const before = Array.from({ length: 20 }, (_, at) => `${at + 1}\n`);
    const after = before.with(4, "five\n").with(9, "ten\n").with(19, "twenty");
    expect(unifiedDifference(before.join(""), after.join(""), names)).toBe(
      [
        "--- a/x\n+++ b/x\n@@ -2,12 +2,12 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n",
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+twenty\n\\ No newline at end of file\n",
      ].join(""),
    );
  });

  it("lets patch make one text from the other", () => {
    const random = numbers(7);
    const next = (below: number) => Math.floor((random.next().value ?? 0) * below);
    for (let round = 0; round < 60; round++) {
      const lines = Array.from({ length: 1 + next(30) }, () => "abcdef"[next(6)] ?? "");
      const changed = lines.flatMap((line) => (next(5) === 0 ? [] : next(5) === 0 ? [line, "new"] : [line]));
      const [before, after] = [`${lines.join("\n")}\n`, `start\n${changed.join("\n")}${next(2) === 0 ? "\n" : ""}`];
      const difference = unifiedDifference(before, after, names);
      expect(patched(before, difference), difference).toBe(after);
    }
  });

  it("is fast for texts without common lines", () => {
    const difference = unifiedDifference(textOf("a"), textOf("b"), names);
    expect(difference.split("\n").filter((line) => /^[+-][ab]\d/.test(line))).toHaveLength(16_000);
  });
});
