import { and, eq, sql } from "drizzle-orm";
import type { Configuration } from "#model/configuration";
import type { Appliance } from "./appliances.ts";
import type { Database } from "./db.ts";
import { nextEdit } from "./edits.ts";
import { counts } from "./limits.ts";
import { appliances } from "./schema.ts";

export type ConfigurationColumns = Pick<Appliance, "name" | "version" | "imageType" | "configuration">;

/** Overwrites what was read. Undefined: another request has changed it since, it is gone, or the account's limit is reached. */
export async function saveConfiguration(
  db: Database,
  { read, columns, maxBytes }: { read: Appliance; columns: ConfigurationColumns; maxBytes: number },
): Promise<Appliance | undefined> {
  const bytes = sql`length(CAST(${JSON.stringify(columns.configuration)} AS BLOB))`;
  const all = counts.configurationBytes(read.accountId ?? 0);
  const [saved] = await db
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
  return saved;
}

/** The configuration of the template that an appliance descends from, as it is now; undefined: an ancestor is gone. */
export async function findTemplateConfiguration(db: Database, applianceId: number): Promise<Configuration | undefined> {
  const [template] = await db
    .select({ configuration: appliances.configuration })
    .from(appliances)
    .where(
      sql`${appliances.id} = (
        WITH RECURSIVE line (id, parent_id, account_id) AS (
          SELECT id, parent_id, account_id FROM appliances WHERE id = ${applianceId}
          UNION SELECT one.id, one.parent_id, one.account_id FROM appliances one JOIN line ON one.id = line.parent_id
        ) SELECT id FROM line WHERE account_id IS NULL LIMIT 1)`,
    );
  return template?.configuration;
}
