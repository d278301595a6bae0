import { diskIsFull, hasFullDisk } from "#domain/full-disk";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import type { Database } from "#storage/db";
import { endDeletionPause, findDeletionPause, saveDeletionPause } from "#storage/deletion-pause";
import { addSetting, deleteSettings, getSettings, saveSetting, type Setting } from "#storage/service-settings";

/**
 * While read-only mode is on, only the operator and the agents can change anything (compatibility.md, "Status",
 * `read_only_mode_active`).
 */
export interface ReadOnlyMode {
  on: boolean;
  /** When the mode was switched on, as ISO 8601. */
  since: string | null;
  /** The operator's message for users, which every page shows while the mode is on. */
  message: string | null;
}

const settings: Setting[] = ["read_only", "read_only_message"];

/** Shown in refusals and in the status of every appliance. */
export const readOnlyMessage =
  "The service is in read-only mode: appliances cannot be changed or built at the moment. Please try again later.";

/** Reads the mode from the database each time, because an isolate that cached it would still allow changes. */
export async function readOnlyMode(db: Database): Promise<ReadOnlyMode> {
  return modeIn(await getSettings(db, settings));
}

/** The mode according to settings that were read together with something else. */
export function modeIn({
  read_only: since = null,
  read_only_message: message,
}: Partial<Record<Setting, string | null>>): ReadOnlyMode {
  return { on: since !== null, since, message: (since !== null && message) || null };
}

/**
 * Switches the mode on or off. Switching it on again keeps the first time, and also the message unless a new one is
 * given. An empty message removes it.
 */
export async function setReadOnlyMode(
  db: Database,
  { on, message }: { on: boolean; message?: string | undefined },
): Promise<ReadOnlyMode> {
  if (!on) await deleteSettings(db, settings);
  else {
    if (message !== undefined) await saveSetting(db, "read_only_message", message.trim());
    await addSetting(db, "read_only", new Date().toISOString());
  }
  return await readOnlyMode(db);
}

/** Refuses a change in read-only mode, and while the disk is full. */
export async function refuseInReadOnlyMode({ env, db }: Services<Pick<Env, "DISK">>): Promise<void> {
  if ((await readOnlyMode(db)).on) throw new Refusal("read_only_mode_active", { message: readOnlyMessage });
  if (await hasFullDisk(env)) throw diskIsFull();
}

/** While the sweep's deletions are paused, no blob that a restored database may name is deleted. */
export interface DeletionPause {
  paused: boolean;
  /** When the pause began, as ISO 8601. */
  since: string | null;
}

export async function deletionPause({ BLOBS }: Pick<Env, "BLOBS">): Promise<DeletionPause> {
  const since = await findDeletionPause(BLOBS);
  return { paused: since !== undefined, since: since ?? null };
}

/** Pauses or resumes the deletions. Pausing again keeps the first time. */
export async function setDeletionPause(env: Pick<Env, "BLOBS">, paused: boolean): Promise<DeletionPause> {
  if (paused) await saveDeletionPause(env.BLOBS, new Date().toISOString());
  else await endDeletionPause(env.BLOBS);
  return await deletionPause(env);
}
