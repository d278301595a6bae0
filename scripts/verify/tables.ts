/** A line of a table, by column heading. */
type Line = Record<string, string>;

/** A Markdown table. If a line lacks a column, its cell is empty. */
export const table = (head: readonly string[], lines: readonly Line[]): string =>
  [head, head.map(() => "---"), ...lines.map((line) => head.map((name) => line[name] ?? ""))]
    .map((cells) => `| ${cells.map(cell).join(" | ")} |`)
    .join("\n");

/** The tables of a text, as `table` writes them. */
export const tablesIn = (markdown: string): Line[][] =>
  markdown.split("\n\n").flatMap((block) => (block.startsWith("| ") ? [linesOf(block)] : []));

function linesOf(block: string): Line[] {
  const [head = [], , ...lines] = block.trim().split("\n").map(cellsOf);
  return lines.map((cells) => Object.fromEntries(head.map((name, column) => [name, cells[column] ?? ""])));
}

/** Makes a cell: one line without a bar, so that " | " appears only between cells. */
const cell = (text: string): string => text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");

const cellsOf = (line: string): string[] =>
  line
    .slice("| ".length, -" |".length)
    .split(" | ")
    .map((text) => text.replaceAll("\\|", "|"));
