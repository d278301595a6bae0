import type { BuildRequest } from "#domain/builds/request";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { findBuildOfVersion, findLatestBuild, listBuildsOfVersion } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";

/**
 * The builds that decide the version and type of an appliance's next build: those of the version that will be chosen,
 * newest first. An appliance may have thousands of others.
 */
export async function listDecidingBuilds(
  db: Database,
  { id, version: current }: Pick<Appliance, "id" | "version">,
  { version, multi }: Pick<BuildRequest, "version" | "multi">,
): Promise<Build[]> {
  if (version === undefined && multi) {
    const latest = await findLatestBuild(db, id);
    return latest ? await listBuildsOfVersion(db, id, latest.version) : [];
  }
  const built = await listBuildsOfVersion(db, id, version ?? current);
  if (built.length > 0 || version === undefined || version === current) return built;
  const failed = await findBuildOfVersion(db, id, version);
  return failed ? [failed] : [];
}
