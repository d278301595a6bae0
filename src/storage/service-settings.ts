import { eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { serviceSettings } from "./schema.ts";

/** Switches of the operator; one without a row is off. */
export type Setting = "read_only";

export async function findSetting(db: Database, name: Setting): Promise<string | undefined> {
  const row = await db.query.serviceSettings.findFirst({ where: eq(serviceSettings.name, name) });
  return row?.value;
}

/** Keeps an existing value; returns the stored one. */
export async function addSetting(db: Database, name: Setting, value: string): Promise<string> {
  await db.insert(serviceSettings).values({ name, value }).onConflictDoNothing();
  return (await findSetting(db, name)) ?? value;
}

export async function deleteSetting(db: Database, name: Setting): Promise<void> {
  await db.delete(serviceSettings).where(eq(serviceSettings.name, name));
}
