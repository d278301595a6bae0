import { print } from "../launch/progress.ts";

/** Prints rows in aligned columns. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows)
    print(
      row
        .map((word, at) => word.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
