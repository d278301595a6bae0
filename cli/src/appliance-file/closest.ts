/** The word that is meant, if one of them is hardly different. */
export function closest(given: string, words: readonly string[]): string | undefined {
  const ranked = words.map((word) => ({ word, distance: distanceBetween(given.toLowerCase(), word) }));
  const [best] = ranked.toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(given.length / 3)) ? best.word : undefined;
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
