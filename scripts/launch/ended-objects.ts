import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Limits the time of a start. The next start continues. */
const mostAtOnce = 20_000;
/** A Durable Object's storage. The alarms of all objects are in another file, metadata.sqlite. */
const storage = /^[0-9a-f]{64}\.sqlite$/;

/**
 * workerd keeps the file of a Durable Object that has deleted all its storage, so the files of ended builds and
 * testdrives would add up. Without the file, such an object is the same. Call this only while no workerd runs. Returns
 * the number of removed files.
 */
export function removeEndedObjects(stateDirectory: string): number {
  const objects = join(stateDirectory, "worker", "do");
  if (!existsSync(objects)) return 0;
  const files = readdirSync(objects)
    .flatMap((folder) =>
      readdirSync(join(objects, folder)).map((name) => ({ name, path: join(objects, folder, name) })),
    )
    .filter(({ name, path }) => storage.test(name) && isEmpty(path))
    .slice(0, mostAtOnce);
  for (const { path } of files) for (const suffix of ["-wal", "-shm", ""]) rmSync(path + suffix, { force: true });
  return files.length;
}

/**
 * The first page begins with the file's header, and then has the table of tables: https://sqlite.org/fileformat2.html.
 */
const pageSizeAt = 16;
const tableCountAt = 103;

/** Whether a database has one page, which lists no table, and no write that is only in its log. */
function isEmpty(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) return false;
  const header = Buffer.alloc(tableCountAt + 2);
  const file = openSync(path, "r");
  try {
    if (readSync(file, header, 0, header.length, 0) < header.length) return false;
  } finally {
    closeSync(file);
  }
  const isSqlite = header.toString("latin1", 0, pageSizeAt) === "SQLite format 3\0";
  return isSqlite && statSync(path).size === header.readUInt16BE(pageSizeAt) && header.readUInt16BE(tableCountAt) === 0;
}
