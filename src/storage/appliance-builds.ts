import { and, asc, desc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Appliance } from "./appliances.ts";
import type { Database } from "./db.ts";
import { appliances, builds } from "./schema.ts";

// A list of a hundred appliances would else carry a hundred configurations that nobody shows.
const listedOfAppliance = {
  id: true,
  name: true,
  arch: true,
  imageType: true,
  lastEditedAt: true,
  estimatedRawMb: true,
  estimatedCompressedMb: true,
  baseSystem: true,
  uuid: true,
  parentId: true,
  parentName: true,
} as const;
const listedOfBuild = {
  id: true,
  applianceId: true,
  version: true,
  imageType: true,
  rawSize: true,
  fileSize: true,
  compressed: true,
  downloadToken: true,
  fileName: true,
} as const;

/** What lists and pages of appliances show. */
export type ListedAppliance = Pick<Appliance, keyof typeof listedOfAppliance>;
export type ListedBuild = Pick<typeof builds.$inferSelect, keyof typeof listedOfBuild>;
export interface ApplianceWithBuilds {
  appliance: ListedAppliance;
  /** Finished ones whose image can be downloaded, newest first. */
  builds: ListedBuild[];
}

/** All appliances of an account with their builds, in one round trip. */
export async function listAppliancesWithBuilds(db: Database, accountId: number): Promise<ApplianceWithBuilds[]> {
  const [all, images] = await db.batch([
    db.query.appliances.findMany({
      columns: listedOfAppliance,
      where: eq(appliances.accountId, accountId),
      orderBy: asc(appliances.id),
    }),
    db.query.builds.findMany({
      columns: listedOfBuild,
      where: and(
        downloadable,
        inArray(builds.applianceId, sql`(SELECT id FROM appliances WHERE account_id = ${accountId})`),
      ),
      orderBy: desc(builds.id),
    }),
  ]);
  const byAppliance = Map.groupBy(images, ({ applianceId }) => applianceId);
  return all.map((appliance) => ({ appliance, builds: byAppliance.get(appliance.id) ?? [] }));
}

/** The same for one appliance that the caller may read; a template has none. */
export async function withBuilds(db: Database, appliance: ListedAppliance): Promise<ApplianceWithBuilds> {
  const images = await db.query.builds.findMany({
    columns: listedOfBuild,
    where: and(downloadable, eq(builds.applianceId, appliance.id)),
    orderBy: desc(builds.id),
  });
  return { appliance, builds: images };
}

const downloadable = and(eq(builds.status, "finished"), isNull(builds.retiredAt), isNull(builds.expiredAt));
