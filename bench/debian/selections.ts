/** Random packages that a person might choose. They are the same in each run. */
import { readStanzas, packageIndexes, type Stanza } from "../software/debian.ts";

const seed = 1;

/**
 * Half of the selections have one package that no other package needs. The rest have three packages, preferably with
 * many dependencies.
 */
export function seededSelections(count: number): string[][] {
  const known = new Map(
    packageIndexes()
      .flatMap(readStanzas)
      .map((one) => [one["Package"] ?? "", one]),
  );
  const needed = new Set([...known.values()].flatMap(neededBy));
  const leaves = [...known.keys()].filter((name) => !needed.has(name)).toSorted();
  const weighted = leaves.flatMap((name) => Array.from({ length: Math.ceil(closureOf(known, name) / 10) }, () => name));
  const random = numbers(seed);
  const one = () => weighted[Math.floor(random() * weighted.length)] ?? "";
  return Array.from({ length: count }, (_, at) => (at < count / 2 ? [one()] : [one(), one(), one()].toSorted()));
}

/** The first alternative of each dependency. */
const neededBy = (stanza: Stanza): string[] =>
  [stanza["Pre-Depends"], stanza["Depends"]].flatMap((text) =>
    (text ?? "").split(",").flatMap((group) => /^\s*([a-z0-9][a-z0-9+.-]*)/.exec(group)?.[1] ?? []),
  );

function closureOf(known: ReadonlyMap<string, Stanza>, name: string): number {
  const seen = new Set<string>();
  for (const waiting = [name]; waiting.length > 0;) {
    const next = waiting.pop() ?? "";
    const stanza = known.get(next);
    if (!stanza || seen.has(next)) continue;
    seen.add(next);
    waiting.push(...neededBy(stanza));
  }
  return seen.size;
}

/** Numbers from 0 to 1 (mulberry32). */
function numbers(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
