import type { D1Database } from "@cloudflare/workers-types";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const bookkeeping = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

/** Applies what is new in the folder, in order, each file as one batch; the table is the one that wrangler keeps. */
export async function applyMigrations(db: D1Database, folder: string): Promise<string[]> {
  await db.prepare(bookkeeping).run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map((row) => row.name));
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql") && !applied.has(name));
  for (const name of files.toSorted()) {
    const statements = readFileSync(join(folder, name), "utf8").split("--> statement-breakpoint");
    await db.batch([
      ...statements.filter((text) => text.trim() !== "").map((text) => db.prepare(text.trim())),
      db.prepare("INSERT INTO d1_migrations(name) VALUES(?)").bind(name),
    ]);
  }
  return files;
}
