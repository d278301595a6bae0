import { inArray, sql, type SQL } from "drizzle-orm";
import type { Database } from "./db.ts";
import { serviceSettings } from "./schema.ts";

/** Switches of the operator. A switch without a row is off. */
export type Setting = "read_only" | "read_only_message";

/** The value of a setting in a statement that also reads something else. Null if it is not set. */
export const settingIn = (name: Setting): SQL<string | null> =>
  sql`(SELECT value FROM service_settings WHERE name = ${name})`;

/** The values of the given settings that are set. */
export async function getSettings(db: Database, names: readonly Setting[]): Promise<Partial<Record<Setting, string>>> {
  const rows = await db.query.serviceSettings.findMany({ where: inArray(serviceSettings.name, [...names]) });
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Adds a setting, unless it already has a value. */
export async function addSetting(db: Database, name: Setting, value: string): Promise<void> {
  await db.insert(serviceSettings).values({ name, value }).onConflictDoNothing();
}

export async function saveSetting(db: Database, name: Setting, value: string): Promise<void> {
  await db
    .insert(serviceSettings)
    .values({ name, value })
    .onConflictDoUpdate({ target: serviceSettings.name, set: { value } });
}

export async function deleteSettings(db: Database, names: readonly Setting[]): Promise<void> {
  await db.delete(serviceSettings).where(inArray(serviceSettings.name, [...names]));
}
