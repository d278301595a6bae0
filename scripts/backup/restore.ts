import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Complaint } from "../launch/complaint.ts";
import { refuseForeign } from "../launch/migrations.ts";
import { projectRoot } from "../launch/project.ts";
import { unpack } from "./archive.ts";
import { type Manifest, manifestOf } from "./manifest.ts";
import { blobsFolder, blobsOf, bucketOf, d1Of } from "./snapshot.ts";

/** Restores a state directory from an archive. The directory is complete or does not exist. */
export async function restore(file: string, state: string): Promise<Manifest> {
  if (!existsSync(file)) throw new Complaint(`There is no file ${file}.`);
  if (existsSync(state) && readdirSync(state).length > 0) {
    throw new Complaint(`${state} is not empty. Name another --state, or move it away first.`);
  }
  const manifest = await manifestOf(file);
  refuseForeign(manifest.migrations, readdirSync(join(projectRoot, "migrations")));
  mkdirSync(dirname(state), { recursive: true });
  const draft = `${state}.${process.pid}.draft`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    await unpack(file, draft).catch(() => {
      throw new Complaint(`${file} cannot be unpacked: it is cut off or damaged, or the disk of ${state} is full.`);
    });
    check(join(draft, "worker"));
    rmSync(join(draft, "manifest.json"));
    if (existsSync(state)) rmdirSync(state);
    renameSync(draft, state);
    return manifest;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Refuses a damaged database, and missing or incomplete blobs. */
function check(worker: string): void {
  for (const name of [d1Of(worker), bucketOf(worker)]) {
    using database = new DatabaseSync(join(worker, name));
    const found = database.prepare("PRAGMA quick_check").get();
    if (found?.["quick_check"] !== "ok") throw new Complaint(`The backup is damaged: ${name} is not a whole database.`);
  }
  using bucket = new DatabaseSync(join(worker, bucketOf(worker)));
  for (const { id, size } of blobsOf(bucket)) {
    const there = statSync(join(worker, blobsFolder, id), { throwIfNoEntry: false })?.size;
    if (there !== size)
      throw new Complaint(`The backup is damaged: the file of ${id} has ${there ?? 0} of ${size} bytes.`);
  }
}
