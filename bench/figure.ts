import type { Place } from "./place.ts";

/** One line of the table: ours against something of the same run. */
export interface Figure {
  what: string;
  ours: string;
  against: string;
  /** How they stand to each other, as the bar is given: "0.31", "+0.4 s". */
  ratio: string;
  bar: string;
  verdict: "met" | "missed" | "reported";
}

/** One named measurement; `run` fails with a sentence when it cannot be taken. */
export interface Measurement {
  name: string;
  run: (place: Place) => Promise<Figure[]>;
}

export const verdict = (isMet: boolean): Figure["verdict"] => (isMet ? "met" : "missed");

const columns = ["what", "ours", "against", "ratio", "bar", "verdict"] as const;

/** The figures as a Markdown table, so that it can be pasted into a document as it is. */
export function table(figures: readonly Figure[]): string {
  const rows = [[...columns], ...figures.map((figure) => columns.map((name) => figure[name]))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const [head = [], ...body] = rows;
  return [line(head), rule, ...body.map(line)].join("\n");
}
