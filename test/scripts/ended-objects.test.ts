import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { removeEndedObjects } from "../../scripts/launch/ended-objects.ts";
import { emptyFolder } from "./folder.ts";

const id = (letter: string): string => `${letter.repeat(64)}.sqlite`;

/** A state directory with a folder of objects. */
function stateWithObjects(): { state: string; folder: string } {
  const state = emptyFolder();
  const folder = join(state, "worker", "do", "kiln-Build");
  mkdirSync(folder, { recursive: true });
  return { state, folder };
}

function makeDatabase(path: string, statements: string): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}

describe("the files of objects that have deleted their storage", () => {
  it("are removed, and no others", () => {
    const { state, folder } = stateWithObjects();
    const held = "CREATE TABLE log (line TEXT); INSERT INTO log VALUES ('a line');";
    makeDatabase(join(folder, id("a")), `PRAGMA page_size = 4096; ${held} DROP TABLE log; VACUUM;`);
    makeDatabase(join(folder, id("b")), `PRAGMA page_size = 4096; ${held}`);
    makeDatabase(join(folder, id("c")), "CREATE TABLE log (line TEXT);");
    makeDatabase(join(folder, "metadata.sqlite"), `${held} DROP TABLE log; VACUUM;`);
    writeFileSync(join(folder, id("d")), "");
    writeFileSync(join(folder, id("e")), Buffer.alloc(4096));

    expect(removeEndedObjects(state)).toBe(1);
    expect(readdirSync(folder).toSorted()).toEqual([id("b"), id("c"), id("d"), id("e"), "metadata.sqlite"]);
  });

  it("stay if a write is only in the log", () => {
    const { state, folder } = stateWithObjects();
    const path = join(folder, id("a"));
    const database = new DatabaseSync(path);
    // The first statement writes an empty page. The table is only in the log until a checkpoint.
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE log (line TEXT);");
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(removeEndedObjects(state)).toBe(0);
    database.close();
    expect(existsSync(path)).toBe(true);
  });

  it("need not exist", () => expect(removeEndedObjects(emptyFolder())).toBe(0));
});
