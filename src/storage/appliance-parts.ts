import { eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { builds, overlayFiles, resumableUploads, testdrives } from "./schema.ts";

/** A part of an appliance that has its own id. */
export type PartOfAppliance = "build" | "file" | "testdrive" | "upload";

/** The appliance that a part belongs to, regardless of its owner. */
export async function findApplianceIdOf(db: Database, what: PartOfAppliance, id: number): Promise<number | undefined> {
  const [found] = await queries[what](db, id);
  return found?.applianceId ?? undefined;
}

const ofBuild = { applianceId: builds.applianceId };

const queries = {
  build: (db: Database, id: number) => db.select(ofBuild).from(builds).where(eq(builds.id, id)),
  file: (db: Database, id: number) =>
    db.select({ applianceId: overlayFiles.applianceId }).from(overlayFiles).where(eq(overlayFiles.id, id)),
  testdrive: (db: Database, id: number) =>
    db
      .select(ofBuild)
      .from(testdrives)
      .innerJoin(builds, eq(builds.id, testdrives.buildId))
      .where(eq(testdrives.id, id)),
  upload: (db: Database, id: number) =>
    db.select({ applianceId: resumableUploads.applianceId }).from(resumableUploads).where(eq(resumableUploads.id, id)),
};
