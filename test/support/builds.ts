import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { buildObject } from "#domain/builds/build";
import { findAnyBuild, type Build } from "#storage/builds";
import { openDatabase } from "#storage/db";
import type { Client } from "./client.ts";
import { readXml } from "./xml.ts";

/** The answer to a request for a build. If the build must start, use `startBuild` of factories.ts. */
export const requestBuild = (tux: Client, applianceId: number, params: Record<string, string> = {}) =>
  tux.post("/running_builds", { appliance_id: applianceId, ...params });

/** Expects that a build of this appliance waits for a builder. */
export async function expectQueued(buildId: number, applianceId: number): Promise<void> {
  expect(await rowOfBuild(buildId)).toMatchObject({ applianceId, status: "queued" });
}

export const seenRunning = async (tux: Client, buildId: number) =>
  (await readXml(await tux.get(`/running_builds/${buildId}`))).running_build;

/** The builds of an appliance that have ended. */
export async function listedBuilds(tux: Client, applianceId: number) {
  const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));
  return [builds.build ?? []].flat();
}

/** The row of a build that must exist. */
export async function rowOfBuild(buildId: number): Promise<Build> {
  const row = await findAnyBuild(openDatabase(env), buildId);
  if (!row) throw new Error(`build ${buildId} is gone`);
  return row;
}

export const objectOfBuild = async (buildId: number) => buildObject(env, await rowOfBuild(buildId));

/** Resolves when the alarm of an ended build has done its work. The alarm may also fire on its own at this moment. */
export async function runAlarm(buildId: number): Promise<void> {
  const object = await objectOfBuild(buildId);
  await runDurableObjectAlarm(object);
  await object.wake(); // runs after the alarm
}

/**
 * Cancels all waiting and running builds, so that only later ones can be claimed. Claiming them is not enough: the
 * leases end after 30 s, and then the builds wait again.
 */
export async function cancelAllBuilds(): Promise<void> {
  const { results } = await env.DB.prepare("SELECT id FROM builds WHERE status IN ('queued', 'running')").all<{
    id: number;
  }>();
  for (const { id } of results) await (await objectOfBuild(id)).cancel();
}

/** The number of lost attempts of all builds. */
export const attemptsLost = async () =>
  (await env.DB.prepare("SELECT coalesce(sum(value), 0) AS n FROM counters WHERE name = 'attempts_lost'").first<number>(
    "n",
  )) ?? 0;
