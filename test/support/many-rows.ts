import { env } from "cloudflare:workers";

/**
 * Copies a row many times. Each column of `changes` is an SQL expression, where `one` is the row and `i` the number of
 * the copy.
 */
export async function copyRow(
  table: string,
  {
    id,
    from = 1,
    times,
    changes = {},
  }: { id: number; from?: number; times: number; changes?: Readonly<Record<string, string>> },
): Promise<void> {
  // Omits generated columns. The database chooses the ids.
  const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info(?) WHERE name <> 'id'`)
    .bind(table)
    .all<{ name: string }>();
  const columns = results.map(({ name }) => name);
  const values = columns.map((name) => changes[name] ?? `one.${name}`);
  await env.DB.prepare(
    `INSERT INTO ${table} (${columns.join(", ")})
     WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT ${values.join(", ")} FROM n CROSS JOIN ${table} AS one WHERE one.id = ? ORDER BY i`,
  )
    .bind(from, from + times - 1, id)
    .run();
}

/** The value of a unique text column of a copy. */
export const unique = (column: string): string => `one.${column} || '-' || i`;
