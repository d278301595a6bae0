import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { Copies, Links } from "./copies.ts";
import { atOneMoment, type Moment } from "./one-moment.ts";

// The folder `worker` of a state directory has miniflare's files: a SQLite database for D1, one for the bucket, one for
// each Durable Object, and one with the alarms of each class. All are in WAL mode. A blob is a file that never changes.
const d1Folder = "d1/miniflare-D1DatabaseObject";
const bucketFolder = "r2/miniflare-R2BucketObject";
export const blobsFolder = "r2/kiln/blobs";
const alarms = "metadata.sqlite";

const Named = z.array(z.object({ id: z.string(), size: z.number() }));
export type NamedBlob = z.infer<typeof Named>[number];

/** The database of D1 or of the bucket. */
const databaseIn = (worker: string, folder: string): string => {
  const [name] = namesIn(join(worker, folder)).filter((each) => each.endsWith(".sqlite") && each !== alarms);
  if (name === undefined) throw new Complaint(`${worker} has no data of a Kiln: ${folder} is missing.`);
  return join(folder, name);
};
export const d1Of = (worker: string): string => databaseIn(worker, d1Folder);
export const bucketOf = (worker: string): string => databaseIn(worker, bucketFolder);

/** The blobs in a bucket's database, including those of unfinished uploads. */
export const blobsOf = (bucket: DatabaseSync): NamedBlob[] =>
  Named.parse(
    bucket
      .prepare(
        `SELECT blob_id AS id, size FROM _mf_objects WHERE blob_id IS NOT NULL
         UNION SELECT blob_id, size FROM _mf_multipart_parts`,
      )
      .all(),
  );

/**
 * Copies a folder `worker`, as it is at one moment, into another folder on the same file system. A running service is
 * paused only while the databases are opened, and while changes since the last round are copied (decision 45).
 */
export async function takeSnapshot(
  worker: string,
  { into, isRunning }: { into: string; isRunning: boolean },
): Promise<Moment<number>> {
  const [d1, bucket] = [d1Of(worker), bucketOf(worker)];
  const sources = [d1, bucket].map((name) => ({ name, path: join(worker, name) }));
  const copies = new Copies(worker, into);
  const links = new Links(join(worker, blobsFolder), join(into, blobsFolder));
  const round = (endsAt?: number) => {
    links.refresh();
    return copies.refresh(smallFiles(worker), endsAt);
  };
  const look = (endsAt: number) => {
    const open = openAll(sources);
    try {
      round(endsAt);
      return open;
    } catch (error) {
      for (const { database } of open) database.close();
      throw error;
    }
  };
  const { seen: open, stoodStillMs } = isRunning
    ? await atOneMoment(join(worker, d1), { prepare: () => untilFewChange(round), look })
    : { seen: look(Infinity), stoodStillMs: 0 };
  const blobs = open.filter(({ name }) => name === bucket).flatMap(({ database }) => blobsOf(database));
  links.keepOnly(new Set(blobs.map(({ id }) => id)));
  for (const { name, database } of open) {
    mkdirSync(dirname(join(into, name)), { recursive: true });
    await backup(database, join(into, name));
    database.close();
  }
  return { seen: blobs.length, stoodStillMs };
}

const mostRounds = 5;
const fewCopies = 50;

function untilFewChange(round: () => number): void {
  for (let rounds = 0; rounds < mostRounds && round() > fewCopies; rounds++);
}

/** Opens the large databases, so that their current content can be read later. */
function openAll(sources: readonly { name: string; path: string }[]): { name: string; database: DatabaseSync }[] {
  const open: { name: string; database: DatabaseSync }[] = [];
  try {
    for (const { name, path } of sources) open.push({ name, database: openAsNow(path) });
    return open;
  } catch (error) {
    for (const { database } of open) database.close();
    throw error;
  }
}

/** In WAL mode, a read transaction sees the database as it was when the transaction began. */
function openAsNow(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("BEGIN");
  database.prepare("SELECT count(*) FROM sqlite_master").get();
  return database;
}

/** The database of each object with its WAL file, and the databases of alarms. */
function smallFiles(worker: string): string[] {
  const classes = namesIn(join(worker, "do")).map((name) => join("do", name));
  return [d1Folder, bucketFolder, ...classes].flatMap((folder) =>
    namesIn(join(worker, folder))
      .filter((name) => /\.sqlite(-wal)?$/.test(name) && (folder.startsWith("do") || name.startsWith(alarms)))
      .map((name) => join(folder, name)),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
