import type { Column, GetColumnData } from "drizzle-orm";

type Columns = Record<string, Column>;
type RowOf<Selected extends Columns> = { [Name in keyof Selected]: GetColumnData<Selected[Name]> };

/**
 * Reads rows of a prepared query's `values()`, beginning at the position of the first of these columns. Undefined if
 * that column is null, because a left join found nothing. For lists of hundreds of rows: drizzle looks up the column of
 * each value again, which takes ten times as long.
 */
export function rowReader<Selected extends Columns>(selected: Selected, firstAt = 0) {
  const columns = Object.entries(selected);
  return (row: readonly unknown[]): RowOf<Selected> | undefined => {
    if (row[firstAt] === null) return undefined;
    const read: Record<string, unknown> = {};
    let at = firstAt;
    for (const [name, column] of columns) {
      const value = row[at++];
      read[name] = value === null ? null : column.mapFromDriverValue(value);
    }
    return read as RowOf<Selected>;
  };
}
