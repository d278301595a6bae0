import { describe, expect, it } from "vitest";
import { add, count, nothing, type Report, summary } from "../../scripts/test/tally.ts";

type File = Report["testResults"][number];

const test = (fullName: string, ...failureMessages: string[]) => ({
  fullName,
  status: failureMessages.length === 0 ? "passed" : "failed",
  failureMessages,
});

const file = (status: string, ...assertionResults: File["assertionResults"]): File => ({
  name: "a.test.ts",
  status,
  message: status === "failed" ? "Error: no such module\n    at a.test.ts:1:1" : "",
  assertionResults,
});

const report = (...testResults: File[]): Report => ({ numPassedTests: 5, testResults });

describe("count", () => {
  it("names each test that failed, with the first line of its reason", () => {
    const tests = [
      test("adds"),
      test("divides", "Error: by zero\n    at a.test.ts:7:3", "Error: again"),
      test("x", ""),
    ];
    expect(count(report(file("failed", ...tests)), 1)).toEqual({
      passed: 5,
      failures: ["a.test.ts: divides: Error: by zero", "a.test.ts: x: "],
    });
  });

  it("counts a file that cannot be loaded as one failure", () => {
    const failures = ["a.test.ts: Error: no such module"];
    expect(count(report(file("passed", test("adds")), file("failed")), 1)).toEqual({ passed: 5, failures });
  });

  it("does not believe a report when the run ended badly", () => {
    const failures = ["a run ended with exit code 1, though none of its tests failed"];
    expect(count(report(file("passed", test("adds"))), 1)).toEqual({ passed: 5, failures });
  });

  it("takes a run without a report for a failure", () => {
    const { passed, failures } = count(undefined, 137);
    expect({ passed, failed: failures.length }).toEqual({ passed: 0, failed: 1 });
  });
});

describe("summary", () => {
  it("sums runs into what failed and the plain last line", () => {
    const first = { passed: 3, failures: [] };
    const second = { passed: 4, failures: ["a.test.ts: divides: Error: by zero"] };
    expect(summary(add(add(nothing, first), second))).toBe(
      "failed: a.test.ts: divides: Error: by zero\n7 passed, 1 failed",
    );
  });
});
