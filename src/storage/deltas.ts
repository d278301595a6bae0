import { and, desc, eq, isNotNull, ne, sql } from "drizzle-orm";
import { isPublishedBuild, type Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { builds } from "./schema.ts";

/** The key of the delta of the newest image of this type with a different version, preferably a published one. */
export async function findEarlierWithDelta(
  db: Database,
  { applianceId, imageType, version }: Pick<Build, "applianceId" | "imageType" | "version">,
): Promise<string | undefined> {
  const found = await db.query.builds.findFirst({
    columns: { deltaKey: true },
    where: and(
      eq(builds.applianceId, applianceId),
      // The condition of the index `builds_images`.
      sql.raw("status = 'finished' AND retired_at IS NULL AND expired_at IS NULL"),
      eq(builds.imageType, imageType),
      ne(builds.version, version),
      isNotNull(builds.deltaKey),
    ),
    orderBy: [desc(isPublishedBuild), desc(builds.id)],
  });
  return found?.deltaKey ?? undefined;
}
