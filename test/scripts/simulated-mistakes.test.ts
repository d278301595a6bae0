import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../scripts/launch/project.ts";
import type { Change } from "../../scripts/simulate/bundle.ts";
import { simulateSeeds } from "../../scripts/simulate/run.ts";

/** A mistake in the code, and the first seed that is known to find it. */
interface Mistake extends Change {
  mistake: string;
  seed: number;
}

const mistakes: Mistake[] = JSON.parse(readFileSync(join(projectRoot, "test/simulation/mistakes.json"), "utf8"));
/** After a change of the code, a different seed may be the first. */
const seeds = 100;

for (const { mistake, seed, ...change } of mistakes) {
  it(`the simulator finds it if ${mistake}`, async () => {
    const reports = await simulateSeeds({ seed, seeds, shrinks: false, stopsAtFirst: true, change });

    expect(reports.at(-1)?.violation?.check).toBeDefined();
  });
}
