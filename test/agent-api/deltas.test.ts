/** Deltas turn the disk of the previous image into the disk of an image. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { attemptHeader } from "#lib/contract/index";
import { buildPrefix } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { publish } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const db = openDatabase(env);

let tux: Client;
let agent: FakeAgent;
beforeEach(async () => {
  tux = await signedIn();
  agent = await fakeAgent();
});

/** Builds the next version of an appliance with this delta. */
async function buildWithDelta(applianceId: number, delta: string, imageType = "oem") {
  const buildId = await startBuild(tux, applianceId, { image_type: imageType });
  const attempt = await agent.claimsBuild(buildId);
  await attempt.uploads(bytesOf(`the previous image ${delta}`));
  await attempt.uploadsArtifact("delta", bytesOf(delta));
  expect((await attempt.finishes()).status).toBe(200);
  return { buildId, attempt };
}

const requestEarlier = ({ claim }: Attempt, token = claim.token) =>
  agent.call("GET", `/builds/${claim.buildId}/earlier-delta`, { headers: { [attemptHeader]: token } });

const claimed = async (applianceId: number, imageType = "oem") =>
  await agent.claimsBuild(await startBuild(tux, applianceId, { image_type: imageType }));

const addressOf = async (buildId: number) =>
  (await readXml(await tux.get(`/builds/${buildId}`))).build.download_url as string;

it("gives a build the delta of the previous image of the same appliance and type", async () => {
  const applianceId = await createAppliance(tux);
  const other = await createAppliance(tux);
  await buildWithDelta(other, "of another appliance");
  await buildWithDelta(applianceId, "of 0.0.1");
  await buildWithDelta(applianceId, "of 0.0.2");
  await buildWithDelta(applianceId, "of 0.0.3, a medium", "iso");

  const attempt = await claimed(applianceId);
  const answer = await requestEarlier(attempt);

  expect(attempt.claim.takesDelta).toBe(true);
  expect([answer.status, await answer.text()]).toEqual([200, "of 0.0.2"]);
});

it("prefers the newest published image", async () => {
  const applianceId = await createAppliance(tux);
  await buildWithDelta(applianceId, "of 0.0.1");
  await buildWithDelta(applianceId, "of 0.0.2");
  expect((await publish(tux, applianceId, "0.0.1")).status).toBe(200);

  const answer = await requestEarlier(await claimed(applianceId));

  expect(await answer.text()).toBe("of 0.0.1");
});

it("gives nothing to the first build, without its token, or to a build that has ended", async () => {
  const applianceId = await createAppliance(tux);
  const first = await claimed(applianceId);
  expect((await requestEarlier(first)).status).toBe(404);
  await first.uploads(bytesOf("an image"));
  await first.uploadsArtifact("delta", bytesOf("of 0.0.1"));
  await first.finishes();
  const second = await claimed(applianceId);

  const path = `/builds/${second.claim.buildId}/earlier-delta`;
  const refused = [
    requestEarlier(first),
    requestEarlier(second, "another-token"),
    agent.call("GET", path),
    visit(`/agent${path}`),
  ];

  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([410, 410, 400, 401]);
});

it("is next to the image for those who may read that, and counts as its bytes", async () => {
  const { buildId } = await buildWithDelta(await createAppliance(tux), "0123456789");
  const path = `${new URL(await addressOf(buildId)).pathname}.delta`;

  const whole = await visit(path);
  const part = await visit(path, { headers: { range: "bytes=2-4" } });

  expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"]);
  expect((await visit(path.replace(/download\/[^/]+/, `download/${"0".repeat(32)}`))).status).toBe(404);
  const row = await findAnyBuild(db, buildId);
  const bytes = [row?.fileSize, row?.filesSize, row?.filesIndexSize].reduce<number>((sum, one) => sum + (one ?? 0), 0);
  expect(row?.storedBytes).toBe(bytes + 10);
});

it("is not there for an image without one", async () => {
  const buildId = await startBuild(tux, await createAppliance(tux));
  await agent.buildsSuccessfully(buildId);

  expect((await visit(`${new URL(await addressOf(buildId)).pathname}.delta`)).status).toBe(404);
});

it("stays as long as its image", async () => {
  const { buildId, attempt } = await buildWithDelta(await createAppliance(tux), "of 0.0.1");
  const path = `${new URL(await addressOf(buildId)).pathname}.delta`;
  const stored = async () => (await env.BLOBS.list({ prefix: `${buildPrefix(attempt.uid)}delta` })).objects.length;
  const dayMs = 24 * 60 * 60_000;

  await sweepIn(29 * dayMs, { KEEP_IMAGES_DAYS: "30" });
  expect([await stored(), (await visit(path)).status]).toEqual([1, 200]);

  await sweepIn(31 * dayMs, { KEEP_IMAGES_DAYS: "30" });
  expect([await stored(), (await visit(path)).status]).toEqual([0, 410]);
});
