import { and, asc, desc, eq, isNull, sql, type Column, type GetColumnData } from "drizzle-orm";
import type { Appliance } from "./appliances.ts";
import type { Account } from "./accounts.ts";
import { isDownloadable } from "./builds-of-appliance.ts";
import { prepared, type Database } from "./db.ts";
import { accounts, appliances, builds } from "./schema.ts";

// Without the configuration, which is large and which lists do not show.
const listedOfAppliance = {
  id: appliances.id,
  name: appliances.name,
  arch: appliances.arch,
  imageType: appliances.imageType,
  lastEditedAt: appliances.lastEditedAt,
  estimatedRawMb: appliances.estimatedRawMb,
  estimatedCompressedMb: appliances.estimatedCompressedMb,
  baseSystem: appliances.baseSystem,
  uuid: appliances.uuid,
  parentId: appliances.parentId,
  parentName: appliances.parentName,
};
const listedOfBuild = {
  id: builds.id,
  version: builds.version,
  imageType: builds.imageType,
  rawSize: builds.rawSize,
  fileSize: builds.fileSize,
  compressed: builds.compressed,
  downloadToken: builds.downloadToken,
  fileName: builds.fileName,
};

/** The columns of an appliance that lists and pages show. */
export type ListedAppliance = Pick<Appliance, keyof typeof listedOfAppliance>;
type ListedBuild = Pick<typeof builds.$inferSelect, keyof typeof listedOfBuild>;
export interface ApplianceWithBuilds {
  appliance: ListedAppliance;
  /** Finished builds whose image can be downloaded, newest first. */
  builds: ListedBuild[];
}

const listOfKey = prepared((db) =>
  db
    .select({ appliance: listedOfAppliance, build: listedOfBuild })
    .from(accounts)
    .leftJoin(appliances, eq(appliances.accountId, accounts.id))
    .leftJoin(builds, and(eq(builds.applianceId, appliances.id), isDownloadable))
    .where(
      and(
        eq(accounts.username, sql.placeholder("username")),
        eq(accounts.apiKeyHmac, sql.placeholder("apiKeyHmac")),
        isNull(accounts.lockedAt),
        isNull(accounts.removedAt),
      ),
    )
    .orderBy(asc(appliances.id), desc(builds.id))
    .prepare(),
);

/**
 * The appliances and their builds of the account with this name and key, in one round trip. Undefined if there is no
 * such account or it is locked.
 */
export async function listAppliancesOfKey(
  db: Database,
  key: Pick<Account, "username" | "apiKeyHmac">,
): Promise<ApplianceWithBuilds[] | undefined> {
  const rows = await listOfKey(db).values(key);
  return rows.length === 0 ? undefined : listed(rows);
}

const applianceOf = rowReader(listedOfAppliance);
const buildOf = rowReader(listedOfBuild, Object.keys(listedOfAppliance).length);

/** Groups rows that are already ordered by appliance. */
function listed(rows: readonly (readonly unknown[])[]): ApplianceWithBuilds[] {
  const all: ApplianceWithBuilds[] = [];
  for (const row of rows) {
    const [appliance, build] = [applianceOf(row), buildOf(row)];
    if (appliance && all.at(-1)?.appliance.id !== appliance.id) all.push({ appliance, builds: [] });
    if (build) all.at(-1)?.builds.push(build);
  }
  return all;
}

/** Adds the builds to one appliance that the caller may read. A template has none. */
export async function withBuilds(db: Database, appliance: ListedAppliance): Promise<ApplianceWithBuilds> {
  const images = await db
    .select(listedOfBuild)
    .from(builds)
    .where(and(eq(builds.applianceId, appliance.id), isDownloadable))
    .orderBy(desc(builds.id));
  return { appliance, builds: images };
}

type Columns = Record<string, Column>;
type RowOf<Selected extends Columns> = { [Name in keyof Selected]: GetColumnData<Selected[Name]> };

/**
 * Reads the rows of a prepared query's `values()`. `firstAt` is the position of the first of these columns. Undefined
 * if that column is null, because a left join found nothing. For lists of hundreds of rows: drizzle looks up the column
 * of each value again, which takes ten times as long.
 */
function rowReader<Selected extends Columns>(selected: Selected, firstAt = 0) {
  const columns = Object.entries(selected);
  return (row: readonly unknown[]): RowOf<Selected> | undefined => {
    if (row[firstAt] === null) return undefined;
    const read: Record<string, unknown> = {};
    let at = firstAt;
    for (const [name, column] of columns) {
      const value = row[at++];
      read[name] = value === null ? null : column.mapFromDriverValue(value);
    }
    return read as RowOf<Selected>;
  };
}
