import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { isAlive } from "../launch/process-tree.ts";
import { secretsFile } from "../launch/secrets.ts";
import { holderOf, lockState } from "../launch/state-lock.ts";
import { pack } from "./archive.ts";
import type { Manifest } from "./manifest.ts";
import { d1Of, takeSnapshot } from "./snapshot.ts";

const Names = z.array(z.object({ name: z.string() }));
const Counts = z.object({ appliances: z.number(), builds: z.number() });
const stagingName = /^backup-(\d+)$/;

export type Backup = Manifest & { stoodStillMs: number };

/** Archives everything in a state directory that cannot be recreated. The service may be running. */
export async function backUp(state: string, file: string): Promise<Backup> {
  if (existsSync(file)) throw new Complaint(`${file} already exists. Name a new file.`);
  if (!existsSync(dirname(file))) throw new Complaint(`There is no folder ${dirname(file)}.`);
  if (!existsSync(secretsFile(state))) throw new Complaint(`${state} is not the state directory of a Kiln.`);
  // The lock prevents a service from starting and writing during the backup.
  const isRunning = (await holderOf(state)) !== undefined;
  const lock = isRunning ? undefined : await lockState(state);
  removeStaleStagings(state);
  // On the same file system as the blobs, which are linked here.
  const staging = join(state, `backup-${process.pid}`);
  try {
    mkdirSync(staging, { mode: 0o700 });
    const at = new Date().toISOString();
    const worker = join(staging, "worker");
    const { seen: blobs, stoodStillMs } = await takeSnapshot(join(state, "worker"), { into: worker, isRunning });
    copyFileSync(secretsFile(state), secretsFile(staging));
    const manifest: Manifest = { format: 1, at, ...factsOf(join(worker, d1Of(worker))), blobs };
    writeFileSync(join(staging, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    await pack(staging, file);
    return { ...manifest, stoodStillMs };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    lock?.release();
  }
}

function factsOf(path: string) {
  using database = new DatabaseSync(path);
  const migrations = Names.parse(database.prepare("SELECT name FROM d1_migrations ORDER BY name").all());
  const counts = database.prepare(
    "SELECT (SELECT count(*) FROM appliances WHERE account_id IS NOT NULL) AS appliances, (SELECT count(*) FROM builds) AS builds",
  );
  return { migrations: migrations.map(({ name }) => name), ...Counts.parse(counts.get()) };
}

/** Deletes the leftovers of killed backups. */
function removeStaleStagings(state: string): void {
  for (const name of readdirSync(state)) {
    const pid = stagingName.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(state, name), { recursive: true, force: true });
  }
}
