import { getTableColumns, is, sql, SQL, type Column } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./db.ts";

/** A new row: values, or SQL expressions. Absent columns get their default, or NULL. */
type NewRow<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferInsert"]]: Table["$inferInsert"][Name] | SQL;
};

/** Inserts a row if `when` is true, in one statement, so that two simultaneous requests cannot both pass a check. */
export const insertWhere = <Table extends SQLiteTable>(db: Database, table: Table, row: NewRow<Table>, when: SQL) =>
  insertFrom(db, table, row, sql`WHERE ${when}`);

/**
 * Inserts a row for each row that `from` (`FROM … WHERE …`) finds. SQL expressions in `row` can use its columns. Other
 * values and defaults are the same for all rows.
 */
export function insertFrom<Table extends SQLiteTable>(db: Database, table: Table, row: NewRow<Table>, from: SQL) {
  const given = new Map<string, unknown>(Object.entries(row));
  // drizzle names all columns of the table in this order, and uses the statement after them unchanged.
  const values = Object.entries(getTableColumns(table))
    .filter(([, column]) => column.generated === undefined)
    .map(([name, column]) => valueOf(column, given.get(name)));
  return db.insert(table).select(sql`SELECT ${sql.join(values, sql`, `)} ${from}`);
}

/** For an upsert: sets these columns to the values of the row that could not be inserted. */
export const fromNewRow = <Table extends SQLiteTable, Name extends keyof Table["_"]["columns"] & string>(
  table: Table,
  names: readonly Name[],
): Record<Name, SQL> => {
  const columns = getTableColumns(table);
  const values = names.map((name) => [name, sql`excluded.${sql.identifier(columns[name]?.name ?? name)}`]);
  return Object.fromEntries(values) as Record<Name, SQL>;
};

function valueOf(column: Column, given: unknown): SQL {
  const value = given === undefined ? (column.default ?? column.defaultFn?.() ?? null) : given;
  if (is(value, SQL)) return value;
  return value === null ? sql`NULL` : sql`${sql.param(value, column)}`;
}
