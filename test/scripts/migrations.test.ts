import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { applyMigrations } from "../../scripts/launch/migrations.ts";
import { emptyFolder } from "./folder.ts";

const folder = join(import.meta.dirname, "../../migrations");
const all = readdirSync(folder)
  .filter((name) => name.endsWith(".sql"))
  .toSorted();

/** A database, and the launcher's way to it. */
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

/** The migrations of an earlier version. */
function earlier(count: number): string {
  const path = join(emptyFolder(), "migrations");
  mkdirSync(path);
  for (const name of all.slice(0, count)) cpSync(join(folder, name), join(path, name));
  return path;
}

/** Gives a table one row, with some value in each column that must have one. */
function addRow(sql: DatabaseSync, table: string): void {
  const columns = sql.prepare(`PRAGMA table_info(${table})`).all();
  const needed = columns.filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null);
  const names = needed.map(({ name }) => `"${String(name)}"`);
  const values = needed.map(({ type }) => (String(type).toLowerCase() === "integer" ? 1 : "{}"));
  sql.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${values.map(() => "?").join()})`).run(...values);
}

describe("applyMigrations", () => {
  it.each([1, 2, 5, 10])("keeps the rows of a database that is %i migrations behind", async (behind) => {
    const { sql, control } = newDatabase();
    sql.exec("PRAGMA foreign_keys = OFF");
    await applyMigrations(control, earlier(all.length - behind));
    const tables = ["accounts", "appliances", "builds", "testdrives", "agents", "repositories"];
    for (const table of tables) addRow(sql, table);
    const before = tables.map((table) => sql.prepare(`SELECT * FROM ${table}`).get());

    expect(await applyMigrations(control, folder)).toHaveLength(behind);
    const after = tables.map((table) => sql.prepare(`SELECT * FROM ${table}`).get());
    for (const [at, row] of before.entries()) expect(after[at]).toMatchObject({ ...row });
    expect(await applyMigrations(control, folder)).toEqual([]);
  });

  it("refuses a database that a later version made, and changes nothing", async () => {
    const { control } = newDatabase();
    await applyMigrations(control, folder);
    const newest = all.at(-1) ?? "";
    await expect(applyMigrations(control, earlier(all.length - 1))).rejects.toThrow(
      `The database is newer than this version of Kiln: it has ${newest}. Use the version that made it, or a later one.`,
    );
  });
});
