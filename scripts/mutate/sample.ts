import { Chance } from "../chance.ts";

/** Draws lines of code at random, and for each line that has mutants, one of them. Ends when no line is left. */
export async function* mutantsBySeed<T extends { line: number }>(
  seed: number,
  lineCounts: ReadonlyMap<string, number>,
  mutantsOf: (file: string) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  const chance = new Chance(seed);
  const left = [...lineCounts].flatMap(([file, count]) => Array.from({ length: count }, (_, nth) => ({ file, nth })));
  for (let line = chance.oneOf(left); line; line = chance.oneOf(left)) {
    const { file, nth } = line;
    left[left.indexOf(line)] = left[left.length - 1] ?? line;
    left.pop();
    const mutant = chance.oneOf((await mutantsOf(file)).filter((one) => one.line === nth + 1));
    if (mutant) yield mutant;
  }
}
