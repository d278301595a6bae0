import { expect, it } from "vitest";
import { mostAlike } from "#domain/builds/duration";
import type { TimedBuild } from "#storage/estimates";

const took = (imageType: TimedBuild["imageType"], seconds: number): TimedBuild => ({
  imageType,
  steps: [{ phase: "Creating the image", seconds }],
});
const others = [took("iso", 9)];

it.each([
  ["its own in the type, at most three", [1, 2, 3, 4].map((n) => took("iso", n)), [1, 2, 3]],
  ["its own in the type before its own in others", [took("oem", 1), took("iso", 2)], [2]],
  ["its own in others before those of other appliances", [took("oem", 1), took("vmx", 2)], [1, 2]],
  ["those of other appliances where it has none", [], [9]],
])("takes %s", (_what, own, expected) => {
  expect(mostAlike({ own, ofType: others }, "iso").map((one) => one["Creating the image"])).toEqual(expected);
});

it("has nothing to say where nothing was built", () => {
  expect(mostAlike({ own: [], ofType: [] }, "iso")).toEqual([]);
});
