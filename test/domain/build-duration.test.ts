import { expect, it } from "vitest";
import { mostAlike } from "#domain/builds/duration";
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
  expect(mostAlike({ own, ofType: others }, "iso").map((one) => one["Creating the image"])).toEqual(expected);
});

it("has no durations if nothing was built", () => {
  expect(mostAlike({ own: [], ofType: [] }, "iso")).toEqual([]);
});
