import { Refusal } from "#domain/refusal";
import { findBaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";
import { findRpm, listRpms, type Rpm } from "#storage/rpms";

/** An account's uploads for a base system. */
export interface Uploads {
  baseSystem: string;
  uploads: Rpm[];
}

export async function listUploads(db: Database, accountId: number, baseSystem: string): Promise<Uploads> {
  await checkBaseSystem(db, baseSystem);
  return { baseSystem, uploads: await listRpms(db, accountId, baseSystem) };
}

/** An upload of this account; another account's does not exist. */
export async function getUpload(db: Database, accountId: number, id: number): Promise<Rpm> {
  const rpm = await findRpm(db, accountId, id);
  if (!rpm) throw new Refusal("invalid_rpm_id", { reason: "unknown" });
  return rpm;
}

/** A base system that has templates: packages are built for one. */
export async function checkBaseSystem(db: Database, name: string): Promise<void> {
  if (!(await findBaseSystem(db, name))) throw new Refusal("invalid_base_system");
}
