import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { buildPrefix, inputKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { sweepIn } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const keysOf = async (uid: string) => {
  const { objects } = await env.BLOBS.list({ prefix: buildPrefix(uid) });
  const names = objects.map(({ key }) => key.slice(buildPrefix(uid).length));
  // The object writes these later.
  return names.filter((name) => name !== "log.txt" && name !== "attestations.json");
};

const inputOf = async (buildId: number) =>
  inputKey((await findAnyBuild(openDatabase(env), buildId))?.inputSha256 ?? "");

const strayInputs = async () => (await env.BLOBS.list({ prefix: "inputs/0000000000" })).objects.length;

it("wakes a build's object that was never told about its build", async () => {
  const buildId = await startBuild(tux, await createAppliance(tux));
  const object = await objectOfBuild(buildId);
  await runInDurableObject(object, (_build, { storage }) => storage.deleteAll());
  await evictDurableObject(object);
  const alarm = () => runInDurableObject(object, (_build, { storage }) => storage.getAlarm());

  await sweepIn(minuteMs / 2);
  expect(await alarm()).toBeNull();
  await sweepIn(minuteMs + 1000);
  expect(await alarm()).not.toBeNull();

  expect((await (await fakeAgent()).claimsBuild(buildId)).claim.attempt).toBe(1);
});

it("frees the slot of a build whose end D1 missed", async () => {
  const buildId = await startBuild(tux, await createAppliance(tux));
  await tux.delete(`/running_builds/${buildId}`);
  await env.DB.prepare("UPDATE builds SET status = 'running' WHERE id = ?").bind(buildId).run();

  await sweepIn(2 * minuteMs);

  expect((await findAnyBuild(openDatabase(env), buildId))?.status).toBe("cancelled");
});

it("deletes old blobs without a row, and keeps those of live builds", async () => {
  const { buildId, uid } = await createBuild(tux);
  await sweepIn(0); // stores its findings about the image
  const living = await keysOf(uid);
  await env.BLOBS.put(`${buildPrefix("999999")}image-1`, "stray");
  await env.BLOBS.put(`${buildPrefix(uid)}image-77`, "of an attempt that lost");

  await sweepIn(hourMs / 2);
  expect(await keysOf("999999")).toEqual(["image-1"]);
  await sweepIn(2 * hourMs);

  expect(await keysOf("999999")).toEqual([]);
  expect(await keysOf(uid)).toEqual(living);
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  expect((await visit(new URL(build.download_url).pathname)).status).toBe(200);
});

it("keeps everything of a running build", async () => {
  const buildId = await startBuild(tux, await createAppliance(tux));
  const attempt = await (await fakeAgent()).claimsBuild(buildId);
  await attempt.uploads(bytesOf("image"));

  await sweepIn(2 * hourMs);

  expect((await attempt.finishes()).status).toBe(200);
});

it("deletes frozen inputs that no build uses", async () => {
  const { buildId } = await createBuild(tux);
  const { buildId: deleted } = await createBuild(tux);
  const [kept, stray] = [await inputOf(buildId), await inputOf(deleted)];
  await tux.delete(`/builds/${deleted}`);

  await sweepIn(2 * hourMs);

  expect(await env.BLOBS.head(kept)).not.toBeNull();
  expect(await env.BLOBS.head(stray)).toBeNull();
});

it("deletes a build an hour after a forced build replaced it", async () => {
  const { applianceId, buildId: old, uid, agent } = await createBuild(tux);
  await agent.buildsSuccessfully(await startBuild(tux, applianceId, { version: "0.0.1", force: "1" }));

  await sweepIn(hourMs / 2);
  expect(await keysOf(uid)).toContain("image-1");
  await sweepIn(2 * hourMs);

  expect(await keysOf(uid)).toEqual([]);
  expect(await findAnyBuild(openDatabase(env), old)).toBeUndefined();
});

it("continues through a long list, and restarts at its end", async () => {
  // All of them are written for real.
  await Promise.all(
    Array.from({ length: 501 }, (_, nth) => env.BLOBS.put(`inputs/${String(nth).padStart(64, "0")}.json`, "{}")),
  );
  await sweepIn(2 * hourMs);
  expect(await strayInputs()).toBe(1);
  await sweepIn(2 * hourMs);
  expect(await strayInputs()).toBe(0);

  expect(await env.DB.prepare("SELECT count(*) AS rows FROM sweep_positions").first("rows")).toBe(0);
});
