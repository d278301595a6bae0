import { deleteApplianceRows, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";

export async function deleteAppliance(_env: Env, db: Database, appliance: Appliance): Promise<void> {
  await deleteApplianceRows(db, appliance.id);
}
