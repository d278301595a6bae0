import type { Client } from "./client.ts";
import { readXml } from "./xml.ts";

/** The answer itself; a build that must start is `startBuild` of factories.ts. */
export const askForBuild = (tux: Client, applianceId: number, params: Record<string, string> = {}) =>
  tux.post("/running_builds", { appliance_id: applianceId, ...params });

export const seenRunning = async (tux: Client, buildId: number) =>
  (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

/** The builds of an appliance that are over. */
export async function listedBuilds(tux: Client, applianceId: number) {
  const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));
  return [builds.build ?? []].flat();
}
