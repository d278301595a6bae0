import { cancelBuildsOf } from "#domain/build";
import { deleteApplianceRows, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";

/** Deletes an appliance with its builds. Agents stop first; the blobs are the sweeper's, which finds them without rows. */
export async function deleteAppliance(env: Env, db: Database, appliance: Appliance): Promise<void> {
  await cancelBuildsOf(env, db, appliance.id);
  await deleteApplianceRows(db, appliance.id);
}
