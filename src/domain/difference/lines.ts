/**
 * A line that is in both texts, only in the first (`-`) or only in the second (`+`). `…` stands for lines that are in
 * both.
 */
export interface Line {
  sign: " " | "-" | "+" | "…";
  text: string;
}

/** How many equal lines are shown before and after a change. */
const context = 3;
/**
 * The cost of a comparison is the product of both lengths. Above this limit, all lines count as changed. Below it, a
 * comparison takes some milliseconds.
 */
const maxCells = 250_000;

/** How the lines of one text become those of another. */
export function lineDifference(before: string, after: string): Line[] {
  const [from, to] = [linesOf(before), linesOf(after)];
  const start = from.findIndex((line, at) => line !== to[at]);
  if (start === -1 && from.length === to.length) return [];
  const head = start === -1 ? Math.min(from.length, to.length) : start;
  const longest = Math.min(from.length, to.length) - head;
  let tail = 0;
  while (tail < longest && from[from.length - 1 - tail] === to[to.length - 1 - tail]) tail += 1;
  const middle = changed(from.slice(head, from.length - tail), to.slice(head, to.length - tail));
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ sign: " ", text }));
  return withoutFar([...same(from.slice(0, head)), ...middle, ...same(from.slice(from.length - tail))]);
}

/** Splits a text into lines. The last line may have no line end. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** Keeps the longest common subsequence. All other lines are removed or added. */
function changed(from: readonly string[], to: readonly string[]): Line[] {
  const all = (lines: readonly string[], sign: Line["sign"]) => lines.map((text): Line => ({ sign, text }));
  if (from.length * to.length > maxCells) return [...all(from, "-"), ...all(to, "+")];
  const width = to.length + 1;
  const common = new Uint32Array((from.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = from.length - 1; row >= 0; row -= 1) {
    for (let column = to.length - 1; column >= 0; column -= 1) {
      const isSame = from[row] === to[column];
      common[row * width + column] = isSame
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < from.length && column < to.length) {
    const [was = "", is = ""] = [from[row], to[column]];
    if (was === is) {
      lines.push({ sign: " ", text: was });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      lines.push({ sign: "-", text: was });
      row += 1;
    } else {
      lines.push({ sign: "+", text: is });
      column += 1;
    }
  }
  return [...lines, ...all(from.slice(row), "-"), ...all(to.slice(column), "+")];
}

/** Only the lines near a change. */
function withoutFar(lines: readonly Line[]): Line[] {
  const near = new Set<number>();
  for (const [at, { sign }] of lines.entries()) {
    if (sign !== " ") for (let place = at - context; place <= at + context; place += 1) near.add(place);
  }
  return lines.flatMap((line, at): Line[] => {
    if (near.has(at)) return [line];
    return at === 0 || near.has(at - 1) ? [{ sign: "…", text: "" }] : [];
  });
}
