import { expect, it } from "vitest";
import { simulateSeeds } from "../../scripts/simulate/run.ts";

/** `npm run simulate` tries other seeds. */
const seeds = 100;

it("loses no build, whatever fails", async () => {
  const reports = await simulateSeeds({ seed: 1, seeds });

  const found = reports.filter(({ violation }) => violation);
  expect(found.map(({ seed, violation, plan }) => ({ seed, violation, plan }))).toEqual([]);
  expect(reports).toHaveLength(seeds);
});

it("replays a seed exactly", async () => {
  const [first] = await simulateSeeds({ seed: 7, seeds: 1, wantsStory: true });
  const [, second] = await simulateSeeds({ seed: 6, seeds: 2, wantsStory: true });

  expect(first?.story.length).toBeGreaterThan(5);
  expect(second).toEqual(first);
});
