import { followed } from "#domain/automatic-builds/decide";
import { nextBegin } from "#domain/automatic-builds/next";
import type { ImageUpdates } from "#model/image-updates";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { findNewestImage } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import type { Watch } from "#storage/watches";

interface Outdated {
  appliance: Appliance;
  watch: Watch | undefined;
  build: Build;
  found: Pick<ImageUpdates, "updates" | "contents">;
}

/** When Kiln may build an outdated image again. Undefined if Kiln does not build it again, or may begin now. */
export async function waitsUntil(
  db: Database,
  { appliance, watch, build, found: { updates, contents } }: Outdated,
): Promise<Date | undefined> {
  if (!watch || watch.automaticState === "building" || followed(appliance, updates).length === 0) return undefined;
  const newest = await findNewestImage(db, appliance.id);
  if (newest?.version !== build.version) return undefined;
  const now = Date.now();
  const from = nextBegin({ appliance, watch, newestVersion: build.version, contents }, now);
  return from > now ? new Date(from) : undefined;
}
