import { and, eq, sql, type SQL } from "drizzle-orm";
import type { Configuration } from "#lib/configuration/stored";
import type { Appliance } from "./appliances.ts";
import { fromJson, type Database } from "./db.ts";
import { nextEdit } from "./edits.ts";
import { counts } from "./limits.ts";
import { released } from "./overlay-files.ts";
import { appliances, overlayFiles } from "./schema.ts";

export type ConfigurationColumns = Pick<Appliance, "name" | "version" | "imageType" | "configuration">;

interface ConfigurationEdit {
  read: Appliance;
  columns: ConfigurationColumns;
  maxBytes: number;
  /** Overlay files to delete with the change. */
  removedFiles?: readonly number[] | undefined;
}

/**
 * Overwrites the configuration that was read. Undefined if another request has changed it since, the appliance is gone,
 * or the account's limit is reached.
 */
export async function saveConfiguration(
  db: Database,
  { read, columns, maxBytes, removedFiles = [] }: ConfigurationEdit,
): Promise<Appliance | undefined> {
  const bytes = sql`length(CAST(${JSON.stringify(columns.configuration)} AS BLOB))`;
  const all = counts.configurationBytes(read.accountId ?? 0);
  const update = db
    .update(appliances)
    .set({ ...columns, lastEditedAt: nextEdit() })
    .where(
      and(
        eq(appliances.id, read.id),
        eq(appliances.name, read.name),
        eq(appliances.version, read.version),
        eq(appliances.imageType, read.imageType),
        sql`json(${appliances.configuration}) = json(${JSON.stringify(read.configuration)})`,
        sql`(${bytes} <= configuration_bytes OR ${all} - configuration_bytes + ${bytes} <= ${maxBytes})`,
      ),
    )
    .returning();
  if (removedFiles.length === 0) return (await update)[0];
  // If the row now has the values written here, the change was made. Two changes differ in their encrypted passwords.
  const removed = sql`overlay_files.appliance_id = ${read.id}
    AND overlay_files.id IN (SELECT value FROM json_each(${JSON.stringify(removedFiles)}))
    AND EXISTS (SELECT 1 FROM appliances WHERE id = ${read.id}
                  AND json(configuration) = json(${JSON.stringify(columns.configuration)}))`;
  const [[saved]] = await db.batch([update, released(db, removed), db.delete(overlayFiles).where(removed)]);
  return saved;
}

/** The current configuration of the template that an appliance descends from. Undefined if an ancestor is gone. */
export const findTemplateConfiguration = async (
  db: Database,
  applianceId: number,
): Promise<Configuration | undefined> => (await listTemplateConfigurations(db, [applianceId]))[0]?.configuration;

/** The templates that several appliances descend from. The search ends at the nearest template. */
export const listTemplateConfigurations = (db: Database, applianceIds: readonly number[]) =>
  db
    .select({ applianceId: sql<number>`line.asked`, configuration: appliances.configuration })
    .from(
      sql`(WITH RECURSIVE line (asked, id, parent_id, account_id) AS (
        SELECT id, id, parent_id, account_id FROM appliances WHERE id IN ${fromJson(applianceIds)}
        UNION SELECT line.asked, one.id, one.parent_id, one.account_id FROM line JOIN appliances one
          ON one.id = line.parent_id WHERE line.account_id IS NOT NULL
      ) SELECT asked, id FROM line WHERE account_id IS NULL) AS line`,
    )
    .innerJoin(appliances, sql`${appliances.id} = line.id`);
/** Whether an appliance descends from another account's appliance. Also false if that appliance is gone. */
export async function descendsFromOthers(
  db: Database,
  { id, accountId }: Pick<Appliance, "id" | "accountId">,
): Promise<boolean> {
  const found = await db.all(
    sql`${lineOf(id)} SELECT 1 FROM line WHERE account_id IS NOT NULL AND account_id <> ${accountId} LIMIT 1`,
  );
  return found.length > 0;
}

/** The appliance and its ancestors, as a table named `line`. */
const lineOf = (applianceId: number): SQL => sql`
  WITH RECURSIVE line (id, parent_id, account_id) AS (
    SELECT id, parent_id, account_id FROM appliances WHERE id = ${applianceId}
    UNION SELECT one.id, one.parent_id, one.account_id FROM appliances one JOIN line ON one.id = line.parent_id
  )`;
