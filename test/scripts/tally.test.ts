import { describe, expect, it } from "vitest";
import { add, count, nothing, sentence } from "../../scripts/test/tally.ts";

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

describe("count", () => {
  it("counts passed and failed tests", () => {
    const report = { numPassedTests: 5, numFailedTests: 2, testResults: [file("failed", "failed", "failed")] };
    expect(count(report, 1)).toEqual({ passed: 5, failed: 2 });
  });

  it("counts a file that cannot be loaded as one failure", () => {
    const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file("passed", "passed"), file("failed")] };
    expect(count(report, 1)).toEqual({ passed: 5, failed: 1 });
  });

  it("does not believe a report when the run ended badly", () => {
    const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file("passed", "passed")] };
    expect(count(report, 1)).toEqual({ passed: 5, failed: 1 });
  });

  it("takes a run without a report for a failure", () => {
    expect(count(undefined, 137)).toEqual({ passed: 0, failed: 1 });
  });
});

describe("sentence", () => {
  it("sums runs into the plain last line", () => {
    expect(sentence(add(add(nothing, { passed: 3, failed: 0 }), { passed: 4, failed: 1 }))).toBe("7 passed, 1 failed");
  });
});
