import { env } from "cloudflare:workers";

type Row = Record<string, string | number | null>;
/** A saved state of the database that can be restored, like D1's Time Travel. Objects and blobs stay unchanged. */
export type Bookmark = Map<string, Row[]>;

/** Catalogues do not change in tests. The search index's own tables cannot be written row by row. */
const isCopied = (name: string): boolean => !/^(packages|publications|repositories|d1_|_cf_|sqlite_stat)/.test(name);

async function tableNames(): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all<{
    name: string;
  }>();
  return results.map(({ name }) => name).filter(isCopied);
}

export async function bookmark(): Promise<Bookmark> {
  const rows = new Map<string, Row[]>();
  for (const name of await tableNames()) {
    const columns = await storedColumns(name);
    rows.set(name, (await env.DB.prepare(`SELECT ${columns.join(", ")} FROM ${name}`).all<Row>()).results);
  }
  return rows;
}

/** The columns of a table. This pragma omits computed columns, which cannot be written. */
async function storedColumns(table: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>();
  return results.map(({ name }) => name);
}

/** Restores all rows, and so also the next ids. */
export async function restore(moment: Bookmark): Promise<void> {
  const statements = [...moment].flatMap(([name, rows]) => [
    env.DB.prepare(`DELETE FROM ${name}`),
    ...rows.map((row) => insertOf(name, row)),
  ]);
  await env.DB.batch([env.DB.prepare("PRAGMA defer_foreign_keys = on"), ...statements]);
}

function insertOf(name: string, row: Row): D1PreparedStatement {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join(", ");
  return env.DB.prepare(`INSERT INTO ${name} (${columns.join(", ")}) VALUES (${marks})`).bind(...Object.values(row));
}
