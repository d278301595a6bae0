/**
 * `npm run simulate -- --seed N --seeds M`: simulates the service with its agents in virtual time, and shrinks what
 * fails.
 */
import { parseArgs } from "node:util";
import { simulateSeeds } from "./simulate/run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "100" },
    tell: { type: "boolean", default: false },
    "no-shrink": { type: "boolean", default: false },
  },
});
const [seed, seeds] = [Number(values.seed), Number(values.seeds)];
const startedAt = performance.now();
const reports = await simulateSeeds({ seed, seeds, wantsStory: values.tell, shrinks: !values["no-shrink"] });
for (const { seed: one, violation, plan, story } of reports) {
  if (values.tell || violation) console.log(story.join("\n"));
  if (!violation) continue;
  console.log(`\nseed ${one}: ${violation.check}: ${violation.what} (after ${violation.at / 1000} s)`);
  for (const step of plan ?? []) console.log(`  ${step.at.toFixed(1).padStart(7)} s  ${step.what} (${step.pick})`);
}
const sum = (of: (report: (typeof reports)[number]) => number) => reports.reduce((total, one) => total + of(one), 0);
const failed = reports.filter(({ violation }) => violation);
const seconds = (performance.now() - startedAt) / 1000;
console.log(
  `${reports.length} seeds in ${seconds.toFixed(1)} s: ${failed.length} with a violation, ${sum(({ builds }) => builds)} builds in ` +
    `${sum(({ attempts }) => attempts)} attempts, ${sum(({ testdrives }) => testdrives)} testdrives, ${(sum(({ simulatedMs }) => simulatedMs) / 86_400_000).toFixed(1)} simulated days`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
