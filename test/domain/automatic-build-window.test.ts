/**
 * Determines when the next automatic build may begin, from the window, the last build's end, and the time of the check.
 */
import { describe, expect, it } from "vitest";
import { nextBegin, type Next } from "#domain/automatic-builds/next";
import { weeklyWindow } from "#lib/configuration/weekly-window";
import { fullConfiguration } from "../support/full-configuration.ts";
import { settingsWith } from "../support/settings.ts";

// 6 March 2026 is a Friday.
const at = (text: string) => Date.parse(`2026-03-${text}Z`);
const edited = new Date(at("01T00:00"));

interface Last {
  state: Next["watch"]["automaticState"];
  began: string;
  /** The contents of the repositories when the build began. */
  contents?: string;
}

const next = (window: string, last?: Last): Next => ({
  appliance: {
    configuration: { ...fullConfiguration, settings: settingsWith({ automaticBuildsAt: window }) },
    lastEditedAt: edited,
  },
  watch: {
    automaticState: last?.state ?? null,
    automaticAt: last ? new Date(at(last.began)) : null,
    automaticContents: last?.contents ?? "contents",
    automaticEditedAt: edited,
    automaticFrom: "0.0.1",
  },
  newestVersion: "0.0.1",
  contents: "contents",
});

const begins = (window: string, now: string, last?: Last) =>
  new Date(nextBegin(next(window, last), at(now))).toISOString().slice(8, 16);

describe("the first automatic build may begin", () => {
  it.each([
    ["at once without a window", "", "06T12:34", "06T12:34"],
    ["at once in the window", "02:00-05:00", "06T04:59", "06T04:59"],
    ["when it opens", "02:00-05:00", "06T01:59", "06T02:00"],
    ["in the next one if this one is over", "02:00-05:00", "06T05:00", "07T02:00"],
    ["on one of its days", "sat,sun 02:00-05:00", "06T03:00", "07T02:00"],
    ["on the second of its days", "sat,sun 02:00-05:00", "07T05:00", "08T02:00"],
    ["a week later if it was down for the whole window", "sat 02:00-05:00", "07T05:01", "14T02:00"],
    ["before midnight", "fri 23:00-02:00", "06T23:30", "06T23:30"],
    ["after midnight, on the day after", "fri 23:00-02:00", "07T01:59", "07T01:59"],
    ["not before midnight of the day after", "fri 23:00-02:00", "07T23:30", "13T23:00"],
    ["over the end of the week", "sat 23:00-02:00", "08T01:00", "08T01:00"],
    ["not after the end of that", "sat 23:00-02:00", "08T02:00", "14T23:00"],
    ["until the end of a day", "fri 22:00-24:00", "06T23:59", "06T23:59"],
    ["not on the day after that", "fri 22:00-24:00", "07T00:00", "13T22:00"],
    ["at any time of a whole day", "sat 00:00-24:00", "06T12:00", "07T00:00"],
    ["on the days of a range", "mon-fri 02:00-05:00", "07T03:00", "09T02:00"],
    ["on a range over the end of the week", "sat-mon 02:00-05:00", "09T03:00", "09T03:00"],
    ["after a range over the end of the week", "sat-mon 02:00-05:00", "09T05:00", "14T02:00"],
    ["in a minute", "sat 02:00-02:01", "06T23:58", "07T02:00"],
  ])("%s", (_, window, now, expected) => expect(begins(window, now)).toBe(expected));
});

const done = (began: string): Last => ({ state: "done", began });
const failed = (began: string, contents?: string): Last => ({
  state: "failed",
  began,
  ...(contents && { contents }),
});
const refused = (began: string, contents?: string): Last => ({ ...failed(began, contents), state: "refused" });

describe("after an automatic build, the next one may begin", () => {
  it.each<[string, string, string, Last, string]>([
    ["a day later without a window", "", "06T12:00", done("06T03:00"), "07T03:00"],
    ["in the next window", "02:00-05:00", "06T04:00", done("06T03:00"), "07T02:00"],
    [
      "in the window of the day after, if the last one was late",
      "02:00-05:00",
      "06T04:58",
      done("06T04:57"),
      "07T02:00",
    ],
    ["half a day later at the earliest", "00:00-24:00", "06T23:51", done("06T23:50"), "07T11:50"],
    ["a day later if the last one was in no window", "02:00-05:00", "06T12:00", done("06T03:30"), "07T02:00"],
    ["in the next window after one by another setting", "02:00-05:00", "06T13:00", done("06T12:00"), "08T02:00"],
    ["in the next window after one that failed", "02:00-05:00", "06T03:00", failed("06T02:10"), "07T02:00"],
    ["an hour later, if a repository has changed", "02:00-05:00", "06T02:30", failed("06T02:10", "old"), "06T03:10"],
    ["not an hour later if the window is over", "02:00-05:00", "06T04:50", failed("06T04:40", "old"), "07T02:00"],
    [
      "at once after a refusal, if a repository has changed",
      "02:00-05:00",
      "06T03:00",
      refused("06T02:10", "old"),
      "06T03:00",
    ],
    ["a day later after a refusal otherwise", "", "06T03:00", refused("06T02:10"), "07T02:10"],
    ["at once if Kiln has not looked for days", "", "09T03:00", done("06T02:10"), "09T03:00"],
  ])("%s", (...[, window, now, last, expected]) => expect(begins(window, now, last)).toBe(expected));
});

const isOne = (text: string) => weeklyWindow.pattern.test(text);

describe("a window", () => {
  it.each(["", "02:00-05:00", "sat 00:00-24:00", "sat,sun 22:00-04:00", "mon-fri,sun 23:59-00:00"])("is %j", (text) =>
    expect(isOne(text)).toBe(true),
  );
  it.each([
    "02:00",
    "02:00-02:00",
    "2:00-5:00",
    "24:00-01:00",
    "Sat 02:00-05:00",
    "sat",
    "sat  02:00-05:00",
    "xyz 02:00-05:00",
  ])("is not %j", (text) => expect(isOne(text)).toBe(false));
});
