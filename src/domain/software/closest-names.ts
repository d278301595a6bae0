import { installable, type ApplianceSoftware } from "#domain/software/resolution-request";
import type { Database } from "#storage/db";
import { listPatterns, similarNames } from "#storage/packages";

/** A name in a selection that no repository has. */
export interface UnknownName {
  kind: "package" | "pattern";
  name: string;
}

const maxNames = 3;
/** No package has a longer name, and a longer one would be similar to too many names. */
const longestName = 64;

/**
 * The names that the user probably meant, closest first. Empty if the appliance's repositories have nothing similar.
 */
export async function closestNames(
  db: Database,
  { arch, repositories }: Pick<ApplianceSoftware, "arch" | "repositories">,
  { kind, name }: UnknownName,
): Promise<string[]> {
  if (name.length > longestName) return [];
  const candidates =
    kind === "pattern"
      ? await listPatterns(db, repositories)
      : await similarNames(db, {
          repositories,
          arches: installable(arch, repositories),
          pieces: piecesOf(name.toLowerCase()),
        });
  return closest(name, candidates);
}

/** The end of a message. Empty if there is nothing to suggest. */
export const didYouMean = (names: readonly string[]): string => {
  const last = names.at(-1);
  if (last === undefined) return "";
  const others = names.slice(0, -1).join(", ");
  return ` Did you mean ${others === "" ? last : `${others} or ${last}`}?`;
};

/**
 * Parts of a misspelt name, one of which is probably correct: thirds or halves, because one or two typos leave at least
 * one of them intact. For a short name, every three consecutive characters. Shorter parts would occur in too many
 * names.
 */
export function piecesOf(name: string): string[] {
  const count = name.length >= 12 ? 3 : name.length >= 8 ? 2 : 0;
  if (count === 0) return Array.from({ length: Math.max(0, name.length - 2) }, (_, at) => name.slice(at, at + 3));
  const size = Math.floor(name.length / count);
  return Array.from({ length: count }, (_, nth) =>
    name.slice(nth * size, nth === count - 1 ? undefined : (nth + 1) * size),
  );
}

/** The candidates within a few typos: one for every three characters, at most three. */
export function closest(name: string, candidates: readonly string[]): string[] {
  const most = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  const wanted = name.toLowerCase();
  return candidates
    .filter((candidate) => candidate.startsWith(`${name}-`) || Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, slips: slipsTo(wanted, candidate.toLowerCase()) }))
    .filter(({ slips }) => slips <= most)
    .toSorted((a, b) => a.slips - b.slips || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, maxNames)
    .map(({ candidate }) => candidate);
}

/** The number of typos between two names. A candidate that only continues the name after a dash counts as one typo. */
const slipsTo = (wanted: string, candidate: string): number =>
  candidate.startsWith(`${wanted}-`) ? 1 : distance(wanted, candidate);

/** Counts missing, extra, wrong and swapped characters: the optimal string alignment distance. */
function distance(left: string, right: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: right.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= left.length; row++) {
    const now = [row];
    for (let at = 1; at <= right.length; at++) {
      const isSame = left[row - 1] === right[at - 1];
      const swapped = row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1];
      now[at] = Math.min(
        (last?.[at] ?? 0) + 1,
        (now[at - 1] ?? 0) + 1,
        (last?.[at - 1] ?? 0) + (isSame ? 0 : 1),
        swapped ? (before?.[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, now];
  }
  return last?.[right.length] ?? 0;
}
