import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatch, type StructuredPatchHunk } from "diff";

/** The time to find the shortest difference grows with the square of its length; beyond so many edits, all lines count as changed. */
const maxEditLength = 500;

/**
 * A unified difference of two texts, as `diff -u` writes it.
 *
 * @param names of the old and the new file in the head
 * @returns "" if the texts are the same
 */
export function unifiedDifference(before: string, after: string, names: readonly [string, string]): string {
  const options = { context: 3, maxEditLength };
  const patch = structuredPatch(...names, before, after, undefined, undefined, options);
  const { hunks } = patch ?? { hunks: [replacement(before, after)] };
  return hunks.length === 0 ? "" : withShortRanges(formatPatch(patchOf(names, hunks), FILE_HEADERS_ONLY));
}

/** `diff -u` leaves out a length of one. Lines of the texts never start with an @. */
const withShortRanges = (difference: string): string =>
  difference.replace(/^@@ .* @@$/gm, (head) => head.replace(/,1(?= )/g, ""));

const patchOf = (
  [oldFileName, newFileName]: readonly [string, string],
  hunks: StructuredPatchHunk[],
): StructuredPatch => ({
  oldFileName,
  newFileName,
  oldHeader: undefined,
  newHeader: undefined,
  hunks,
});

/** All lines of the old text become all lines of the new one. */
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
