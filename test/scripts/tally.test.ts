import { describe, expect, it } from "vitest";
import type { TestEvent } from "../../scripts/test/event.ts";
import { add, nothing, Progress, summary } from "../../scripts/test/tally.ts";

const file = "a.test.ts";
const began = (test: string): TestEvent => ({ type: "test began", file, test });
const ended = (test: string, reason?: string): TestEvent[] => [
  began(test),
  { type: "test ended", file, test, state: reason === undefined ? "passed" : "failed", reason: reason ?? "" },
];
const fileBegan: TestEvent = { type: "file began", file };
const fileEnded = (reason?: string): TestEvent => ({ type: "file ended", file, reason });

function progress(...events: TestEvent[]): Progress {
  const progress = new Progress();
  for (const event of events) progress.note(event);
  return progress;
}

describe("a run that ended", () => {
  it("lists each failed test with its reason", () => {
    const run = progress(fileBegan, ...ended("adds"), ...ended("divides", "by zero"), ...ended("x", ""), fileEnded());
    expect(run.ended(1)).toEqual({ passed: 1, failures: ["a.test.ts: divides: by zero", "a.test.ts: x: "] });
  });

  it("counts a file that failed without a failed test as one failure", () => {
    const run = progress(fileBegan, fileEnded("no such module"));
    expect(run.ended(1)).toEqual({ passed: 0, failures: ["a.test.ts: no such module"] });
  });

  it("fails if the run ended badly, whatever its tests report", () => {
    const failures = ["a run ended with exit code 1, although none of its tests failed"];
    expect(progress(fileBegan, ...ended("adds"), fileEnded()).ended(1)).toEqual({ passed: 1, failures });
  });

  it("ignores a skipped test", () => {
    const skipped: TestEvent = { type: "test ended", file, test: "adds", state: "skipped", reason: "" };
    expect(progress(fileBegan, skipped, fileEnded()).ended(0)).toEqual({ passed: 0, failures: [] });
  });
});

describe("a run that hung", () => {
  const why = "hung: nothing began or ended in 180 seconds";

  it.each<[string, TestEvent[], string]>([
    ["the running test", [fileBegan, ...ended("adds"), began("divides")], "a.test.ts: divides"],
    ["the file being loaded", [fileBegan], "a.test.ts, before its first test ended"],
    ["the last finished test of a running file", [fileBegan, ...ended("adds")], "a.test.ts, after the test adds"],
    ["the last finished test of all", [fileBegan, ...ended("adds"), fileEnded()], "the run, after the test adds"],
    ["only the run", [], "the run, before its first test ended"],
  ])("names %s", (_what, events, place) => {
    expect(progress(...events).hung(180).failures).toEqual([`${place}: ${why}`]);
  });

  it("counts finished tests", () => {
    const run = progress(fileBegan, ...ended("adds"), ...ended("divides", "by zero"), began("roots"));
    expect(run.hung(180)).toEqual({
      passed: 1,
      failures: ["a.test.ts: divides: by zero", `a.test.ts: roots: ${why}`],
    });
  });
});

describe("summary", () => {
  it("lists the failures of all runs, then one plain last line", () => {
    const first = { passed: 3, failures: [] };
    const second = { passed: 4, failures: ["a.test.ts: divides: Error: by zero"] };
    expect(summary(add(add(nothing, first), second))).toBe(
      "failed: a.test.ts: divides: Error: by zero\n7 passed, 1 failed",
    );
  });

  it("ends with the number of tests that need not run, if there are any", () => {
    const all = add(add({ passed: 3, failures: [], skipped: 13 }, nothing), { passed: 1, failures: [], skipped: 6 });
    expect(summary(all)).toBe("4 passed, 0 failed, 19 skipped");
  });
});
