import { describe, expect, it } from "vitest";
import { expectedSecondsOf, mostSimilar } from "#domain/builds/duration";
import { advance, queued } from "#domain/builds/machine";
import { progressOf } from "#domain/builds/progress";
import type { TimedBuild } from "#storage/estimates";

const took = (imageType: TimedBuild["imageType"], seconds: number): TimedBuild => ({
  imageType,
  steps: [{ phase: "Creating the image", seconds }],
});
const others = [took("iso", 9)];

it.each([
  ["the appliance's own builds of the type, at most three", [1, 2, 3, 4].map((n) => took("iso", n)), [1, 2, 3]],
  ["its own of the type before its own of other types", [took("oem", 1), took("iso", 2)], [2]],
  ["its own of other types before other appliances' builds", [took("oem", 1), took("vmx", 2)], [1, 2]],
  ["other appliances' builds if it has none", [], [9]],
])("takes %s", (_what, own, expected) => {
  expect(mostSimilar({ own, ofType: others }, "iso").map((one) => one["Creating the image"])).toEqual(expected);
});

it("has no durations if nothing was built", () => {
  expect(mostSimilar({ own: [], ofType: [] }, "iso")).toEqual([]);
});

it("expects a build to take what those that are like it took on average", () => {
  const earlier = mostSimilar({ own: [took("iso", 10), took("iso", 20)], ofType: [] }, "iso");
  expect(expectedSecondsOf(earlier)).toBe(15);
  expect(expectedSecondsOf([])).toBeUndefined();
});

describe("the time that a running build still takes", () => {
  const at = 1_000_000;
  const left = (percent: number, seconds: number, expectedSeconds?: number) => {
    const claimed = advance(queued(at), { type: "claimed", at, agentId: 1, token: "a", expectedSeconds });
    if ("refused" in claimed) throw new Error("refused");
    const beat = { phase: "Creating the image", percent, message: "" } as const;
    const running = advance(claimed, { type: "heartbeat", at, token: "a", beat });
    if ("refused" in running) throw new Error("refused");
    return progressOf(running, at + seconds * 1000).secondsLeft;
  };

  it.each([
    ["is at first what earlier builds took", [0, 5, 100], 100],
    ["goes more and more by what this one took", [50, 100, 100], 75],
    ["ends when the build does", [99, 200, 100], 2],
    ["goes by this one alone without earlier ones", [25, 50], 150],
    ["is unknown at the beginning without earlier ones", [9, 50], undefined],
  ] as const)("%s", (_what, [percent, seconds, expected], result) => {
    expect(left(percent, seconds, expected)).toBe(result);
  });
});
