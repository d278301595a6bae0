/*
 * A unified difference of two texts, as diff -u writes it. The shortest edit by Myers' algorithm
 * (https://doi.org/10.1007/BF01840446), up to a number of edits; beyond that, the whole middle counts as changed.
 */

const contextLines = 3;
const mostEdits = 500;

/** Lines of both texts, half open: `from` these of the old become these of the new. */
interface Hunk {
  old: [from: number, to: number];
  now: [from: number, to: number];
}

/** @param names of the old and the new file in the head; "" when the texts are the same */
export function unifiedDifference(before: string, after: string, names: readonly [string, string]): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const groups = grouped(changedRuns(old, now));
  if (groups.length === 0) return "";
  return [`--- ${names[0]}\n`, `+++ ${names[1]}\n`, ...groups.map((hunks) => written(hunks, old, now))].join("");
}

/** Each with its newline, if it has one. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Runs of lines that differ, in order. */
function changedRuns(old: string[], now: string[]): Hunk[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const room = Math.min(old.length, now.length) - head;
  while (tail < room && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const middle = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)] as const;
  const kept = commonLines(...middle).map(([x, y]) => [x + head, y + head] as const);
  const runs: Hunk[] = [];
  let [x, y] = [head, head];
  for (const [nextX, nextY] of [...kept, [old.length - tail, now.length - tail] as const]) {
    if (nextX > x || nextY > y) runs.push({ old: [x, nextX], now: [y, nextY] });
    [x, y] = [nextX + 1, nextY + 1];
  }
  return runs;
}

/** Places of the lines that both keep, from the shortest edit. */
function commonLines(old: readonly string[], now: readonly string[]): [number, number][] {
  const furthest = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(old.length + now.length, mostEdits); edits++) {
    trail.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOn(furthest, diagonal, edits);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return walkedBack(trail, old.length, now.length);
    }
  }
  return [];
}

/** Whether the furthest path comes to a diagonal by a line of the new text, rather than by dropping one of the old. */
const comesDown = (furthest: Map<number, number>, diagonal: number, edits: number): boolean =>
  diagonal === -edits ||
  (diagonal !== edits && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1));

/** How far in the old text it comes there. */
const startOn = (furthest: Map<number, number>, diagonal: number, edits: number): number =>
  comesDown(furthest, diagonal, edits) ? (furthest.get(diagonal + 1) ?? 0) : (furthest.get(diagonal - 1) ?? -1) + 1;

function walkedBack(trail: Map<number, number>[], oldLength: number, newLength: number): [number, number][] {
  const common: [number, number][] = [];
  let [x, y] = [oldLength, newLength];
  for (const [edits, furthest] of [...trail.entries()].toReversed()) {
    const diagonal = x - y;
    const start = startOn(furthest, diagonal, edits);
    while (x > start) common.push([--x, --y]);
    if (comesDown(furthest, diagonal, edits)) y--;
    else x--;
  }
  return common.toReversed();
}

/** Runs whose contexts touch stand in one hunk. */
function grouped(runs: Hunk[]): Hunk[][] {
  const groups: Hunk[][] = [];
  for (const run of runs) {
    const last = groups.at(-1);
    const end = last?.at(-1)?.old[1];
    if (last && end !== undefined && run.old[0] - end <= 2 * contextLines) last.push(run);
    else groups.push([run]);
  }
  return groups;
}

function written(hunks: Hunk[], old: string[], now: string[]): string {
  const [first, last] = [hunks[0], hunks.at(-1)];
  if (!first || !last) return "";
  const ahead = Math.min(contextLines, first.old[0]);
  const behind = Math.min(contextLines, old.length - last.old[1]);
  const lines = [
    `@@ -${range(first.old[0] - ahead, last.old[1] + behind)} +${range(first.now[0] - ahead, last.now[1] + behind)} @@\n`,
  ];
  let at = first.old[0] - ahead;
  for (const { old: gone, now: come } of hunks) {
    lines.push(...marked(" ", old.slice(at, gone[0])));
    lines.push(...marked("-", old.slice(...gone)), ...marked("+", now.slice(...come)));
    at = gone[1];
  }
  return [...lines, ...marked(" ", old.slice(at, at + behind))].join("");
}

/** Lines from 1 on; of none, the one before them. */
const range = (from: number, to: number): string =>
  `${to === from ? from : from + 1}${to - from === 1 ? "" : `,${to - from}`}`;

const marked = (sign: string, lines: string[]) =>
  lines.map((line) => (line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`));
