import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { buildObject } from "#domain/builds/build";
import { findAnyBuild, type Build } from "#storage/builds";
import { openDatabase } from "#storage/db";
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

/** Of a build whose row is there. */
export async function rowOfBuild(buildId: number): Promise<Build> {
  const row = await findAnyBuild(openDatabase(env.DB), buildId);
  if (!row) throw new Error(`build ${buildId} is gone`);
  return row;
}

export const objectOfBuild = async (buildId: number) => buildObject(env, await rowOfBuild(buildId));

/** What the alarm of a build that is over has to do is done then: it rings by itself too, in this very moment perhaps. */
export async function ringAlarm(buildId: number): Promise<void> {
  const object = await objectOfBuild(buildId);
  await runDurableObjectAlarm(object);
  await object.wake(); // stands in line behind the alarm
}
