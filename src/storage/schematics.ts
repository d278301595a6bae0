import { and, eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import type { Appliance } from "./appliances.ts";
import type { ChannelAddress } from "./channels.ts";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { accounts, appliances, channels, schematics } from "./schema.ts";

/** The appliance of a row, unless it has been edited since the row was written. */
const isUnchanged = and(
  eq(appliances.id, schematics.applianceId),
  eq(appliances.accountId, schematics.accountId),
  eq(appliances.lastEditedAt, schematics.editedAt),
);

/**
 * The appliance that this account has made from a schematic. Undefined if the account has none, or has edited it since.
 */
export async function findSchematic(db: Database, accountId: number, sha256: string): Promise<Appliance | undefined> {
  const [found] = await db
    .select(getTableColumns(appliances))
    .from(schematics)
    .innerJoin(appliances, isUnchanged)
    .where(and(eq(schematics.sha256, sha256), eq(schematics.accountId, accountId)));
  return found;
}

/** The schematic that an appliance matches. Undefined if it was not made from one, or has been edited since. */
export async function findSchematicOf(
  db: Database,
  { id, lastEditedAt }: Pick<Appliance, "id" | "lastEditedAt">,
): Promise<string | undefined> {
  const found = await db.query.schematics.findFirst({
    columns: { sha256: true },
    where: and(eq(schematics.applianceId, id), eq(schematics.editedAt, lastEditedAt)),
  });
  return found?.sha256;
}

/** Whether an appliance was made from a schematic, even if it has been edited since. */
export async function isOfSchematic(db: Database, applianceId: number): Promise<boolean> {
  const found = await db.query.schematics.findFirst({
    columns: { sha256: true },
    where: eq(schematics.applianceId, applianceId),
  });
  return found !== undefined;
}

/** The condition that the account has a schematic. */
export const hasSchematic = (accountId: number, sha256: string): SQL =>
  sql`EXISTS (SELECT 1 FROM ${schematics} JOIN ${appliances} ON ${isUnchanged}
    WHERE ${schematics.sha256} = ${sha256} AND ${schematics.accountId} = ${accountId})`;

/** Records that the appliance with this uuid, if it exists, was made from a schematic: a statement for a batch. */
export const madeFrom = (db: Database, { uuid, sha256 }: { uuid: string; sha256: string }) =>
  insertFrom(
    db,
    schematics,
    {
      sha256,
      accountId: sql`appliances.account_id`,
      applianceId: sql`appliances.id`,
      editedAt: sql`appliances.last_edited_at`,
    },
    sql`FROM appliances WHERE uuid = ${uuid}`,
  ).onConflictDoUpdate({
    target: [schematics.sha256, schematics.accountId],
    set: { applianceId: sql`excluded.appliance_id`, editedAt: sql`excluded.edited_at` },
  });

/**
 * The published appliance that provides a channel for a schematic's address: the oldest one that has the channel.
 * Appliances with repositories that only their account sees are not candidates, because the definition has only the
 * names of these repositories.
 */
export async function findSchematicChannel(
  db: Database,
  sha256: string,
  channel: string,
): Promise<ChannelAddress | undefined> {
  const [found] = await db
    .select({ username: accounts.username, applianceId: appliances.id })
    .from(schematics)
    .innerJoin(appliances, isUnchanged)
    .innerJoin(accounts, and(eq(accounts.id, schematics.accountId), sql`${accounts.removedAt} IS NULL`))
    .innerJoin(channels, and(eq(channels.applianceId, schematics.applianceId), eq(channels.name, channel)))
    .where(
      and(
        eq(schematics.sha256, sha256),
        sql`EXISTS (SELECT 1 FROM publications WHERE publications.appliance_id = ${schematics.applianceId})`,
        sql`NOT EXISTS (SELECT 1 FROM appliance_repositories JOIN repositories ON repositories.id = repository_id
          WHERE appliance_repositories.appliance_id = ${schematics.applianceId} AND repositories.account_id IS NOT NULL)`,
      ),
    )
    .orderBy(appliances.id)
    .limit(1);
  return found;
}
