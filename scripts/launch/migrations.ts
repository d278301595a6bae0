import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Complaint } from "./complaint.ts";
import type { Control, Statement } from "./control.ts";

const bookkeeping = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;
const plain = (sql: string): Statement => ({ sql, values: [] });

/** The first migration before the baseline. No release contained it. */
const beforeBaseline = "0000_initial.sql";

/**
 * Refuses a database from before the baseline, or from a newer version, because older code could damage unknown data.
 */
export function refuseForeign(applied: readonly string[], known: readonly string[]): void {
  const foreign = applied.filter((name) => !known.includes(name));
  if (foreign.length === 0) return;
  if (foreign.includes(beforeBaseline)) {
    throw new Complaint(
      "The database was made before version 1.0 of Kiln, which cannot read it. Begin with a new state directory, or a new database.",
    );
  }
  throw new Complaint(
    `The database is newer than this version of Kiln: it has ${foreign.join(", ")}. Use the version that made it, or a later one.`,
  );
}

/** Applies the folder's new migrations in order, each file as one batch. Uses the same table as wrangler. */
export async function applyMigrations({ batch }: Pick<Control, "batch">, folder: string): Promise<string[]> {
  const [, rows = []] = await batch([plain(bookkeeping), plain("SELECT name FROM d1_migrations")]);
  const applied = new Set(rows.map((row) => row["name"]));
  const known = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  refuseForeign(
    rows.map((row) => String(row["name"])),
    known,
  );
  const files = known.filter((name) => !applied.has(name));
  for (const name of files.toSorted()) {
    const statements = readFileSync(join(folder, name), "utf8").split("--> statement-breakpoint");
    await batch([
      ...statements.filter((text) => text.trim() !== "").map((text) => plain(text.trim())),
      { sql: "INSERT INTO d1_migrations(name) VALUES(?)", values: [name] },
    ]);
  }
  return files;
}
