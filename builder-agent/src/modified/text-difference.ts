import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from "diff";

/**
 * Finding the shortest difference takes quadratic time. If there are more edits than this, all lines count as changed.
 */
const maxEditLength = 500;

/**
 * A unified difference of two texts, as `diff -u` writes it.
 *
 * @param names of the old and the new file in the head
 * @returns "" if the texts are the same
 */
export function unifiedDifference(before: string, after: string, names: readonly [string, string]): string {
  const options = { context: 3, maxEditLength };
  const compared = structuredPatch(...names, before, after, undefined, undefined, options);
  const patch = compared ?? { ...structuredPatch(...names, "", ""), hunks: [replacement(before, after)] };
  return patch.hunks.length === 0 ? "" : withShortRanges(formatPatch(patch, FILE_HEADERS_ONLY));
}

/** Omits lengths of one, like `diff -u`. Lines of the texts never start with an @. */
const withShortRanges = (difference: string): string =>
  difference.replace(/^@@ .* @@$/gm, (head) => head.replace(/,1(?= )/g, ""));

/** Replaces all lines of the old text with all lines of the new one. */
function replacement(before: string, after: string): StructuredPatchHunk {
  const hunks = [structuredPatch("", "", before, ""), structuredPatch("", "", "", after)].flatMap(({ hunks }) => hunks);
  const sum = (count: (hunk: StructuredPatchHunk) => number) => hunks.reduce((total, hunk) => total + count(hunk), 0);
  return {
    oldStart: 1,
    oldLines: sum(({ oldLines }) => oldLines),
    newStart: 1,
    newLines: sum(({ newLines }) => newLines),
    lines: hunks.flatMap(({ lines }) => lines),
  };
}
