import { and, desc, eq, isNull, sql, type SQL } from "drizzle-orm";
import type { ImageType } from "#lib/contract/index";
import type { Database } from "./db.ts";
import { appliances, builds } from "./schema.ts";

/** Stores the image's estimated size for lists, which do not resolve packages. */
export async function saveEstimate(
  db: Database,
  applianceId: number,
  estimate: { estimatedRawMb: number; estimatedCompressedMb: number },
): Promise<void> {
  await db.update(appliances).set(estimate).where(eq(appliances.id, applianceId));
}

/** The durations of the latest finished builds that resemble this one. */
export interface EarlierSteps {
  /** Builds of the appliance, newest first. */
  own: TimedBuild[];
  /** Builds of any appliance with the same image type. Read only if the appliance has none. */
  ofType: TimedBuild[];
}
export type TimedBuild = { imageType: ImageType; steps: { phase: string; seconds: number }[] };

const enough = 3;
/**
 * How many of the appliance's builds to read. Even if the appliance is built in every type, at least one of them has
 * this type.
 */
const ownBuilds = 10;

export async function listEarlierSteps(
  db: Database,
  { applianceId, imageType }: { applianceId: number; imageType: ImageType },
): Promise<EarlierSteps> {
  const own = await listSteps(db, eq(builds.applianceId, applianceId), ownBuilds);
  if (own.length > 0) return { own, ofType: [] };
  return { own, ofType: await listSteps(db, eq(builds.imageType, imageType), enough) };
}

async function listSteps(db: Database, which: SQL, limit: number): Promise<TimedBuild[]> {
  const rows = await db.query.builds.findMany({
    columns: { imageType: true, steps: true },
    where: and(which, sql`status = 'finished'`, isNull(builds.rebuildOf)),
    orderBy: desc(builds.id),
    limit,
  });
  return rows
    .map(({ imageType, steps }) => ({ imageType, steps: steps ?? [] }))
    .filter(({ steps }) => steps.length > 0);
}
