import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { bringTables } from "../../src/objects/tables.ts";

/** Runs with the storage of a separate object. */
const withStorage = <T>(name: string, run: (sql: SqlStorage) => T) =>
  runInDurableObject(env.MAILBOX.getByName(name), (_, state) => run(state.storage.sql));

const first = "CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)";
const second = "ALTER TABLE things ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'";

it("takes over tables that older code made without a version", async () => {
  const rows = await withStorage("tables-old", (sql) => {
    sql.exec("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
    sql.exec("INSERT INTO things (name) VALUES ('old')");
    bringTables(sql, "things", [first, second]);
    return sql.exec("SELECT name, colour FROM things").toArray();
  });
  expect(rows).toEqual([{ name: "old", colour: "grey" }]);
});

it("does each version once, also in a later code", async () => {
  const rows = await withStorage("tables-twice", (sql) => {
    bringTables(sql, "things", [first]);
    bringTables(sql, "things", [first, second]);
    bringTables(sql, "things", [first, second]);
    return sql.exec("SELECT name, version FROM table_versions WHERE name = 'things'").toArray();
  });
  expect(rows).toEqual([{ name: "things", version: 2 }]);
});

it("leaves newer tables alone after a rollback, and older inserts still work", async () => {
  const rows = await withStorage("tables-back", (sql) => {
    bringTables(sql, "things", [first, second]);
    bringTables(sql, "things", [first]);
    sql.exec("INSERT INTO things (name) VALUES ('rolled back')");
    return sql
      .exec("SELECT name, colour, (SELECT version FROM table_versions WHERE name = 'things') AS version FROM things")
      .toArray();
  });
  expect(rows).toEqual([{ name: "rolled back", colour: "grey", version: 2 }]);
});
