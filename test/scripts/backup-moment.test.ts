/** A backup of many objects during writes by a process with workerd's name and files. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { d1Of, takeSnapshot } from "../../scripts/backup/snapshot.ts";
import { emptyFolder } from "./folder.ts";

const objects = 500;
const live = 40;
const d1 = `d1/miniflare-D1DatabaseObject/${"a".repeat(64)}.sqlite`;
const bucket = `r2/miniflare-R2BucketObject/${"b".repeat(64)}.sqlite`;
const objectFile = (name: string | number) => `do/kiln-Build/${name}.sqlite`;

/**
 * Writes each number to an object's file, and then to a row. So at every moment, the files match the rows, or one file
 * is ahead.
 */
const writer = `
  import { writeFileSync } from "node:fs";
  import { DatabaseSync } from "node:sqlite";
  process.title = "workerd";
  const database = new DatabaseSync(${JSON.stringify(d1)});
  const insert = database.prepare("INSERT INTO written (object, number) VALUES (?, ?)");
  const write = (number) => {
    const object = (number * 7) % ${live};
    writeFileSync("do/kiln-Build/live-" + object + ".sqlite", String(number).padStart(12, "0"), { flag: "r+" });
    insert.run(object, number);
    if (number === ${live}) console.log("ready");
    setImmediate(write, number + 1);
  };
  write(1);`;

async function serviceWithObjects(): Promise<string> {
  const worker = join(emptyFolder(), "worker");
  for (const folder of [
    "d1/miniflare-D1DatabaseObject",
    "r2/miniflare-R2BucketObject",
    "r2/kiln/blobs",
    "do/kiln-Build",
  ])
    mkdirSync(join(worker, folder), { recursive: true });
  for (const name of [d1, bucket]) writeFileSync(join(worker, dirname(name), "metadata.sqlite"), "alarms");
  using database = new DatabaseSync(join(worker, d1));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE written (object INTEGER, number INTEGER)");
  using ofBucket = new DatabaseSync(join(worker, bucket));
  ofBucket.exec(`PRAGMA journal_mode = WAL; CREATE TABLE _mf_objects (blob_id TEXT, size INTEGER);
    CREATE TABLE _mf_multipart_parts (blob_id TEXT, size INTEGER); INSERT INTO _mf_objects VALUES ('named', 1)`);
  for (const blob of ["named", "unnamed"]) writeFileSync(join(worker, "r2/kiln/blobs", blob), "x");
  for (let nth = 0; nth < objects; nth++) {
    const file = join(worker, objectFile(nth));
    writeFileSync(file, `object ${nth}`);
    utimesSync(file, 0, 0); // a file that was just written might still change
  }
  for (let nth = 0; nth < live; nth++) writeFileSync(join(worker, objectFile(`live-${nth}`)), "0".repeat(12));
  const child = spawn(process.execPath, ["--input-type=module", "--eval", writer], {
    cwd: worker,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return worker;
}

it("has all objects and rows of one moment, when only what has changed is copied", async () => {
  const worker = await serviceWithObjects();
  const into = join(worker, "../backup-1/worker");

  const { seen } = await takeSnapshot(worker, { into, isRunning: true });

  expect(seen).toBe(1);
  const copiedAt = (name: string | number) => statSync(join(into, objectFile(name))).ctimeMs;
  const unchanged = Array.from({ length: objects }, (_, nth) => copiedAt(nth));
  const changing = Array.from({ length: live }, (_, nth) => copiedAt(`live-${nth}`));
  expect(Math.max(...unchanged)).toBeLessThanOrEqual(Math.min(...changing));
  expect(readFileSync(join(into, "r2/kiln/blobs/named"), "utf8")).toBe("x");
  expect(() => readFileSync(join(into, "r2/kiln/blobs/unnamed"))).toThrow("ENOENT");
  expect(readFileSync(join(into, objectFile(objects - 1)), "utf8")).toBe(`object ${objects - 1}`);
  using database = new DatabaseSync(join(into, d1Of(into)));
  const rows = database.prepare("SELECT object, max(number) AS number FROM written GROUP BY object").all();
  const last = Math.max(...rows.map(({ number }) => Number(number)));
  const ahead: number[] = [];
  for (const { object, number } of rows) {
    const written = Number(readFileSync(join(into, objectFile(`live-${object}`)), "utf8"));
    if (written !== number) ahead.push(written);
  }
  expect(last).toBeGreaterThan(live);
  expect([[], [last + 1]]).toContainEqual(ahead);
});
