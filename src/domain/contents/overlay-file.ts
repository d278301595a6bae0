import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { overlayPath, type FileMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";
import { findReadableAppliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import {
  changeOverlayFile,
  deleteOverlayFile,
  findAnyOverlayFile,
  listOverlayFiles,
  type OverlayFile,
} from "#storage/overlay-files";

/** The overlay files of an appliance that this account may read. */
export async function listFiles(db: Database, accountId: number, applianceId: number): Promise<OverlayFile[]> {
  const appliance = await getAppliance(db, accountId, applianceId, "invalid");
  return listOverlayFiles(db, appliance.id);
}

/** A file of an appliance that this account may read. A file that it may not read is reported as unknown. */
export async function getFile(db: Database, accountId: number, id: number): Promise<OverlayFile> {
  const file = await findAnyOverlayFile(db, id);
  if (!file || !(await findReadableAppliance(db, accountId, file.applianceId))) throw noSuchFile();
  return file;
}

/** A file that this account may change. Every account can read the files of templates, but none may change them. */
export async function getOwnFile(db: Database, accountId: number, id: number): Promise<OverlayFile> {
  const file = await getFile(db, accountId, id);
  await getOwnAppliance(db, accountId, file.applianceId);
  return file;
}

/** Changes only the given metadata. */
export async function changeFile(
  db: Database,
  accountId: number,
  file: OverlayFile,
  change: Partial<FileMetadata>,
): Promise<OverlayFile> {
  overlayPath({ ...file, ...change });
  if (Object.keys(change).length === 0) return file;
  const changed = await changeOverlayFile(db, file, change, accountId);
  if (!changed) throw noSuchFile();
  return changed;
}

/** Removes a file and its content, unless another appliance uses the same content. */
export async function deleteFile(db: Database, accountId: number, id: number): Promise<void> {
  const file = await getOwnFile(db, accountId, id);
  if (!(await deleteOverlayFile(db, file, accountId))) throw noSuchFile();
}

const noSuchFile = () => new Refusal("invalid_overlay_file_id", { reason: "unknown" });
