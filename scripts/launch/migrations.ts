import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Control, Statement } from "./control.ts";

const bookkeeping = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;
const plain = (sql: string): Statement => ({ sql, values: [] });

/** Applies the folder's new migrations in order, each file as one batch. Uses the same table as wrangler. */
export async function applyMigrations({ batch }: Pick<Control, "batch">, folder: string): Promise<string[]> {
  const [, rows = []] = await batch([plain(bookkeeping), plain("SELECT name FROM d1_migrations")]);
  const applied = new Set(rows.map((row) => row["name"]));
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql") && !applied.has(name));
  for (const name of files.toSorted()) {
    const statements = readFileSync(join(folder, name), "utf8").split("--> statement-breakpoint");
    await batch([
      ...statements.filter((text) => text.trim() !== "").map((text) => plain(text.trim())),
      { sql: "INSERT INTO d1_migrations(name) VALUES(?)", values: [name] },
    ]);
  }
  return files;
}
