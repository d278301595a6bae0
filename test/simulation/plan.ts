import { Chance } from "../../scripts/chance.ts";
import { faults } from "./faults.ts";
import type { Step } from "./report.ts";

/** The requests are sent within this time, and the faults happen while the requests run. */
const busySeconds = 300;

/** Whether nothing fails, so that nothing may take long. */
const isCalm = (seed: number): boolean => seed % 4 === 0;

const rushSeconds = 60;

/** The steps of a simulation. */
export function planOf(seed: number): Step[] {
  const chance = new Chance(seed);
  const pick = () => chance.between(0, 1_000_000);
  const some = (count: number, seconds: number, what: () => string): Step[] =>
    Array.from({ length: count }, () => ({ at: chance.between(0, seconds * 10) / 10, what: what(), pick: pick() }));
  const names = Object.keys(faults);
  const steps = [
    ...some(isCalm(seed) ? 9 : chance.between(3, 7), isCalm(seed) ? rushSeconds : busySeconds, () => "start a build"),
    ...some(chance.between(0, 1), busySeconds, () => "start a build again"),
    ...some(chance.between(0, 2), busySeconds, () => "cancel a build"),
    ...some(isCalm(seed) ? 7 : chance.between(0, 4), busySeconds, () => "start a testdrive"),
    ...some(chance.between(0, 1), busySeconds * 1.2, () => "stop a testdrive"),
    ...some(chance.between(0, 2), busySeconds, () => "upload a file"),
    ...some(chance.between(0, 1), busySeconds * 1.2, () => "delete a file"),
    ...some(chance.between(0, 2), rushSeconds, () => "add a webhook"),
    ...some(chance.between(0, 2), busySeconds, () => "publish a version"),
    ...some(chance.between(1, 4) === 1 ? 1 : 0, busySeconds * 1.2, () => "take a version out of the gallery"),
    ...some(isCalm(seed) ? 0 : chance.between(2, 10), busySeconds * 1.3, () => chance.oneOf(names) ?? ""),
    ...some(chance.between(0, 3), rushSeconds, () => "add a repository"),
    ...some(chance.between(0, 3), busySeconds, () => "a mirror changes"),
  ];
  return steps.toSorted((one, other) => one.at - other.at);
}

/** The shortest plan that still fails. Found by removing smaller and smaller parts. */
export async function shrink(
  plan: readonly Step[],
  fails: (plan: readonly Step[]) => Promise<boolean>,
): Promise<Step[]> {
  let best = [...plan];
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.length;) {
      const shorter = best.toSpliced(from, size);
      if (await fails(shorter)) best = shorter;
      else from += size;
    }
  }
  return best;
}
