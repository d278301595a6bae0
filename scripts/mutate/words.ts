/** Tests are told apart by these letters of their words, so that "witness" and "witnesses" are the same word. */
const stemLetters = 6;
const leastLetters = 4;

/** The names in a text, which are often rare, and the stems of their words, which have other forms elsewhere. */
function stemsOf(text: string): Set<string> {
  const names = text.match(/[a-z]+/gi) ?? [];
  const stems = names.flatMap((name) => name.split(/(?<=[a-z])(?=[A-Z])/)).map((word) => word.slice(0, stemLetters));
  return new Set([...names, ...stems].filter(({ length }) => length >= leastLetters).map((one) => one.toLowerCase()));
}

/** The words of each test. The imports between files do not show which tests send a request that reaches a line. */
export class TestWords {
  readonly #stems: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #counts = new Map<string, number>();

  /** @param tests the text of each test, by its file */
  constructor(tests: ReadonlyMap<string, string>) {
    this.#stems = new Map([...tests].map(([file, text]) => [file, stemsOf(`${file} ${text}`)]));
    for (const stems of this.#stems.values())
      for (const stem of stems) this.#counts.set(stem, (this.#counts.get(stem) ?? 0) + 1);
  }

  /** The tests that share the most words with a text. A word counts the more, the fewer tests have it. */
  nearestTo(text: string, most: number): string[] {
    const wanted = [...stemsOf(text)];
    const weightOf = (stems: ReadonlySet<string>) =>
      wanted.reduce((sum, stem) => sum + (stems.has(stem) ? 1 / (this.#counts.get(stem) ?? 1) : 0), 0);
    return [...this.#stems]
      .map(([file, stems]) => ({ file, weight: weightOf(stems) }))
      .filter(({ weight }) => weight > 0)
      .toSorted((one, other) => other.weight - one.weight || (one.file < other.file ? -1 : 1))
      .slice(0, most)
      .map(({ file }) => file);
  }
}
