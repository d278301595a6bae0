import type { Place } from "./place.ts";

/** One line of the table: Kiln's result and the result that it is compared with, from the same run. */
export interface Figure {
  what: string;
  ours: string;
  against: string;
  /** Their ratio or difference, in the form of the bar: "0.31", "+0.4 s". */
  ratio: string;
  bar: string;
  verdict: "met" | "missed" | "reported";
}

/** One named measurement. `run` throws a message if it cannot be taken. */
export interface Measurement {
  name: string;
  run: (place: Place) => Promise<Figure[]>;
}

export const verdict = (isMet: boolean): Figure["verdict"] => (isMet ? "met" : "missed");

const columns = ["what", "ours", "against", "ratio", "bar", "verdict"] as const;

/** The figures as a Markdown table, for pasting into a document. */
export function table(figures: readonly Figure[]): string {
  const rows = [[...columns], ...figures.map((figure) => columns.map((name) => figure[name]))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const [head = [], ...body] = rows;
  return [line(head), rule, ...body.map(line)].join("\n");
}
