/** Chooses by a seed: the same seed gives the same choices. */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** One of these, each equally likely. */
  oneOf<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  /** From 0 to 1, by the generator mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

/** Draws lines of code, each equally likely, and one mutant of each line that has any. Ends when no line is left. */
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
