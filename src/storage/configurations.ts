import { and, eq, sql } from "drizzle-orm";
import type { Configuration } from "#domain/configuration/configuration";
import type { Appliance } from "./appliances.ts";
import type { Database } from "./db.ts";
import { appliances } from "./schema.ts";

export type ConfigurationColumns = Pick<Appliance, "name" | "version" | "imageType" | "configuration">;

/** Writes over what was read; undefined where somebody else has changed any of it since, or it is gone. */
export async function saveConfiguration(
  db: Database,
  { read, columns }: { read: Appliance; columns: ConfigurationColumns },
): Promise<Appliance | undefined> {
  const [saved] = await db
    .update(appliances)
    .set({ ...columns, lastEditedAt: new Date() })
    .where(
      and(
        eq(appliances.id, read.id),
        eq(appliances.name, read.name),
        eq(appliances.version, read.version),
        eq(appliances.imageType, read.imageType),
        sql`json(${appliances.configuration}) = json(${JSON.stringify(read.configuration)})`,
      ),
    )
    .returning();
  return saved;
}

/** The configuration of the template that an appliance descends from, as it is now; undefined: the line is broken. */
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
