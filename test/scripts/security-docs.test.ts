import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const pages = ["docs/security.md", "docs/security/asvs.md"] as const;
const read = (page: string) => readFileSync(page, "utf8");

/** The number of level 1 and 2 requirements in each chapter of ASVS 5.0.0. */
const inChapter = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];

/** The rows of the tables of requirements: numbers, state, reason. */
const rows = read("docs/security/asvs.md")
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, numbers = "", state = "", reason = ""]) => ({ numbers: numbers.split(", "), state, reason }));

describe.each(pages)("%s", (page) => {
  const files = [...read(page).matchAll(/`([\w.-]+(?:\/[\w.-]+)*\.(?:json|toml|tsx?))`/g)].map(([, file = ""]) => file);
  // These files exist only in a state directory.
  const named = files.filter((file) => !["secrets.json", "ready.json"].includes(file));

  it("names files that exist", () => {
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  });
});

describe("the tables of ASVS", () => {
  it("have every requirement once", () => {
    const numbers = rows.flatMap((row) => row.numbers);
    const counted = inChapter.map((_, at) => numbers.filter((number) => number.startsWith(`${at + 1}.`)).length);

    expect(numbers.filter((number) => !/^\d+\.\d+\.\d+$/.test(number))).toEqual([]);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(counted).toEqual(inChapter);
  });

  it("have a state and a reason in each line", () => {
    const states = ["met", "partly", "no", "n/a"];
    expect(rows.filter(({ state, reason }) => !states.includes(state) || reason.length < 8)).toEqual([]);
  });
});
