import type { Step } from "./report.ts";

/** The shortest plan that still fails, found by leaving out parts that get smaller and smaller. */
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
