import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { applyMigrations } from "../../scripts/launch/migrations.ts";
import { emptyFolder } from "./folder.ts";

const folder = join(import.meta.dirname, "../../migrations");

/** A database, and the calls with which the launcher changes it. */
function newDatabase() {
  const sql = new DatabaseSync(":memory:");
  const batch = async (statements: readonly { sql: string; values: readonly unknown[] }[]) => {
    sql.exec("BEGIN");
    const rows = statements.map(({ sql: text, values }) => sql.prepare(text).all(...(values as SQLInputValue[])));
    sql.exec("COMMIT");
    return rows;
  };
  return { sql, control: { batch } };
}

/** The migrations of a later version: the current ones, and these. */
function later(added: Record<string, string>): string {
  const path = join(emptyFolder(), "migrations");
  cpSync(folder, path, { recursive: true });
  for (const [name, text] of Object.entries(added)) writeFileSync(join(path, name), text);
  return path;
}

/** Gives a table one row, with a value in each required column. */
function addRow(sql: DatabaseSync, table: string): void {
  const columns = sql.prepare(`PRAGMA table_info(${table})`).all();
  const needed = columns.filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null);
  const names = needed.map(({ name }) => `"${String(name)}"`);
  const values = needed.map(({ type }) => (String(type).toLowerCase() === "integer" ? 1 : "{}"));
  sql.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${values.map(() => "?").join()})`).run(...values);
}

describe("applyMigrations", () => {
  it("adds what a later version added, and keeps the rows", async () => {
    const { sql, control } = newDatabase();
    sql.exec("PRAGMA foreign_keys = OFF");
    await applyMigrations(control, folder);
    const tables = ["accounts", "appliances", "builds", "testdrives", "agents", "repositories"];
    for (const table of tables) addRow(sql, table);
    const before = tables.map((table) => sql.prepare(`SELECT * FROM ${table}`).get());

    const added = {
      "9998_column.sql":
        "ALTER TABLE builds ADD colour text;--> statement-breakpoint\nUPDATE builds SET colour = 'red';",
      "9999_table.sql": "CREATE TABLE colours (name text);",
    };
    expect(await applyMigrations(control, later(added))).toEqual(Object.keys(added));
    const after = tables.map((table) => sql.prepare(`SELECT * FROM ${table}`).get());
    for (const [at, row] of before.entries()) expect(after[at]).toMatchObject({ ...row });
    expect(sql.prepare("SELECT colour FROM builds").get()).toEqual({ colour: "red" });
    expect(await applyMigrations(control, later(added))).toEqual([]);
  });

  it("refuses a database that a later version made, and changes nothing", async () => {
    const { sql, control } = newDatabase();
    await applyMigrations(control, later({ "9999_next.sql": "CREATE TABLE next (id integer);" }));
    await expect(applyMigrations(control, folder)).rejects.toThrow(
      "The database is newer than this version of Kiln: it has 9999_next.sql. Use the version that made it, or a later one.",
    );
    expect(sql.prepare("SELECT count(*) AS n FROM next").get()).toEqual({ n: 0 });
  });

  it("refuses a database that was made before the baseline, and changes nothing", async () => {
    const { sql, control } = newDatabase();
    sql.exec("CREATE TABLE d1_migrations (id integer PRIMARY KEY, name text)");
    sql.exec("INSERT INTO d1_migrations (name) VALUES ('0000_initial.sql'), ('0035_reservations.sql')");
    await expect(applyMigrations(control, folder)).rejects.toThrow("made before version 1.0 of Kiln");
    expect(sql.prepare("SELECT name FROM sqlite_master WHERE name = 'accounts'").all()).toEqual([]);
  });
});
