import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The databases in a stopped service's state directory that have this table, each with the rows of a query. */
export function rowsOf(stateDir: string, table: string, query: string): Record<string, unknown>[] {
  let tables = 0;
  const rows = databasesIn(stateDir).flatMap((file) => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const named = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
      tables += named ? 1 : 0;
      return named ? database.prepare(query).all() : [];
    } finally {
      database.close();
    }
  });
  if (tables === 0) throw new Error(`no database has the table ${table}: has miniflare changed?`);
  return rows;
}

const databasesIn = (stateDir: string): string[] =>
  readdirSync(join(stateDir, "worker"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(stateDir, "worker", name));
