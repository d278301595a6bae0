import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  advance,
  heartbeatOf,
  startProgress,
  stepsOf,
  type Progress,
  type ProgressEvent,
} from "../../src/run/progress.ts";
import { phases, type Phase } from "../../src/contract.ts";

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.log`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");

/** Replays a recorded build, one line every 10 ms. */
function replay(progress: Progress, type: "oem" | "iso"): Progress[] {
  let at = 0;
  const line = (text: string): ProgressEvent => ({ type: "line", line: text, at: (at += 10) });
  const enter = (phase: Phase): ProgressEvent => ({ type: "phase", phase, at: (at += 10) });
  const events = [
    enter("Preparing the build"),
    ...recorded("prepare").map(line),
    enter("Creating the image"),
    ...recorded(`create-${type}`).map(line),
    enter("Compressing the image"),
    { type: "time", at: (at += 500) } as const,
    enter("Uploading the image"),
    { type: "done", fraction: 0.5, at: (at += 100) } as const,
    { type: "done", fraction: 1, at: (at += 100) } as const,
  ];
  const seen: Progress[] = [];
  let now = progress;
  for (const event of events) seen.push((now = advance(now, event)));
  return seen;
}

const history = { ...Object.fromEntries(phases.map((phase) => [phase, 1])), "Creating the image": 4 };

describe("progress of a recorded build", () => {
  it.each([
    ["oem", "without history", []],
    ["iso", "without history", []],
    ["oem", "with earlier builds", [history, history]],
  ] as const)("of type %s %s never falls, passes every phase, stays below 100", (type, _, earlier) => {
    const percents = replay(startProgress([...earlier], 0), type).map((each) => each.percent);

    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBe(99);
    expect(new Set(percents).size).toBeGreaterThan(20);
  });

  it("recognizes the phases in KIWI's lines", () => {
    const steps = stepsOf(replay(startProgress([], 0), "oem").at(-1) ?? startProgress([], 0));

    expect(steps.map((step) => step.phase)).toEqual([...phases]);
    expect(steps.find((step) => step.phase === "Uploading the image")?.seconds).toBeCloseTo(0.2);
  });

  it("shows zypper's counts", () => {
    const messages = replay(startProgress([], 0), "oem").map((each) => heartbeatOf(each).message);

    expect(messages).toContain("Downloading software (3/21) busybox");
    expect(messages).toContain("Installing software (16/21) kernel-default");
    expect(messages).toContain("Creating the image: Syncing system to image");
    expect(messages).toContain("Uploading the image (50 %)");
  });

  it("shows no path of the builder", () => {
    const messages = replay(startProgress([], 0), "iso").map((each) => heartbeatOf(each).message);

    expect(messages.filter((message) => / \/|kiln-agent/.test(message))).toEqual([]);
  });
});

const at = (phase: Phase, earlier: Record<string, number>[]) =>
  advance(startProgress(earlier, 0), { type: "phase", phase, at: 0 });

const bootstrap = (text: string): ProgressEvent => ({
  type: "line",
  line: `[ DEBUG   ]: 13:46:07 | bootstrap: ${text}`,
  at: 0,
});

describe("advance", () => {
  it.each([
    // Ten seconds in total. The phases before "creating" take four.
    ["starts a phase where the previous ones end", [history], 0, 40],
    ["moves with time, based on earlier builds", [history], 2_000, 60],
    ["stops short of the end of a slow phase", [history], 60_000, 78],
  ])("%s", (_, earlier, ms, percent) => {
    expect(advance(at("Creating the image", earlier), { type: "time", at: ms }).percent).toBe(percent);
  });

  it("does not move with time alone before anything is known", () => {
    expect(advance(startProgress([], 0), { type: "time", at: 60_000 }).percent).toBe(0);
  });

  it("weighs packages by their bytes", () => {
    const before = [
      "Overall download size: 10.0 MiB. Already cached: 0 B. After the operation, additional 90.0 MiB will be used.",
      "Retrieving package small-1-1.noarch (1/2), 1.0 MiB ( 9.0 MiB unpacked)",
      "Retrieving package big-1-1.noarch (2/2), 9.0 MiB ( 81.0 MiB unpacked)",
    ].reduce((progress, text) => advance(progress, bootstrap(text)), at("Installing software", [history]));
    const small = advance(before, bootstrap("( 1/2) Installing: small-1-1.noarch [done]"));
    const big = advance(small, bootstrap("( 2/2) Installing: big-1-1.noarch [done]"));

    expect([before.fraction, small.fraction, big.fraction]).toEqual([0.1, 0.19, 1]);
  });

  it("never enters a phase again", () => {
    const creating = at("Creating the image", []);

    expect(advance(creating, { type: "phase", phase: "Installing software", at: 1 }).phase).toBe("Creating the image");
  });

  it("truncates a message to the limit of a heartbeat", () => {
    const line = `[ INFO    ]: 13:46:07 | ${"x".repeat(400)}`;

    expect(heartbeatOf(advance(startProgress([], 0), { type: "line", line, at: 0 })).message).toHaveLength(200);
  });
});
