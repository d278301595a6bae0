import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { buildObject } from "#domain/builds/build";
import { buildPrefix } from "#storage/blobs";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError } from "../support/xml.ts";

const dayMs = 24 * 60 * 60_000;
const store = fileStoreOf({ "/etc/motd": "Welcome" });

let tux: Client;
let agent: FakeAgent;
let applianceId: number;
/** The build of the first format, which has uploaded the store. */
let first: { buildId: number; uid: string };
beforeEach(async () => {
  tux = await signedIn();
  agent = await fakeAgent();
  applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  first = { buildId, uid: (await agent.buildsSuccessfully(buildId, bytesOf("a disk"), { store })).uid };
});

/** Claims a second format of the version. */
async function claimSecond(): Promise<{ buildId: number; attempt: Attempt }> {
  const buildId = await startBuild(tux, applianceId, { image_type: "iso", version: "0.0.1", multi: "true" });
  return { buildId, attempt: await agent.claimsBuild(buildId) };
}

/** Builds a second format, which does not upload the store again. */
async function buildSecond(): Promise<{ buildId: number; uid: string }> {
  const { buildId, attempt } = await claimSecond();
  await attempt.uploadsArtifact("image", bytesOf("a medium"));
  expect(await attempt.opensWhole(store.files, "files")).toMatchObject({ complete: true });
  await attempt.uploadsArtifact("files-index", store.index);
  expect((await attempt.finishes()).status).toBe(200);
  return { buildId, uid: attempt.uid };
}

const namesOf = async ({ uid }: { uid: string }) =>
  (await env.BLOBS.list({ prefix: buildPrefix(uid) })).objects.map(({ key }) => key.slice(buildPrefix(uid).length));

const read = ({ buildId }: { buildId: number }) =>
  tux.get(`/appliances/${applianceId}/image_files?build_id=${buildId}&path=/etc/motd`);

const remove = async ({ buildId }: { buildId: number }) =>
  expect((await tux.delete(`/builds/${buildId}`)).status).toBe(200);

describe("formats of a version with the same files", () => {
  it("have one file store", async () => {
    const second = await buildSecond();

    expect(await namesOf(second)).not.toContain("files-1");
    expect(await (await read(second)).text()).toBe("Welcome");
  });

  it("keep it when the first format is deleted", async () => {
    const second = await buildSecond();
    await remove(first);
    await sweepIn(2 * dayMs);

    expect(await namesOf(first)).toEqual(["files-1"]);
    expect(await (await read(second)).text()).toBe("Welcome");

    await remove(second);
    await sweepIn(2 * dayMs);
    expect(await namesOf(first)).toEqual([]);
  });

  it("keep it without a question to the object of the deleted build", async () => {
    await buildSecond();
    await remove(first);
    const object = buildObject(env, first);
    await runInDurableObject(object, (_build, { storage }) => storage.kv.put("mark", true));
    await sweepIn(2 * dayMs);

    const mark = await runInDurableObject(object, (_build, { storage }) => storage.kv.get("mark"));
    expect(mark).toBe(true);
  });

  it("keep it until both have expired", async () => {
    const second = await buildSecond();
    await sweepIn(31 * dayMs, { KEEP_IMAGES_DAYS: "30" });

    expect(await namesOf(first)).not.toContain("files-1");
    await expectError(await read(second), 400, "raw_image_unavailable");
  });

  it("keep it from the moment that the second format shares it", async () => {
    const { buildId, attempt } = await claimSecond();
    await attempt.opensWhole(store.files, "files");
    await remove(first);
    await attempt.uploadsArtifact("image", bytesOf("a medium"));
    await attempt.uploadsArtifact("files-index", store.index);
    await attempt.finishes();

    expect(await (await read({ buildId })).text()).toBe("Welcome");
  });

  it("do not keep it for a build that has failed", async () => {
    const { attempt } = await claimSecond();
    await attempt.opensWhole(store.files, "files");
    await attempt.call("fail", { kind: "failed", reason: "It failed." });
    await remove(first);

    expect(await namesOf(first)).toEqual([]);
  });
});

describe("a file store is uploaded again", () => {
  it("if it is another file", async () => {
    const { attempt } = await claimSecond();
    const other = fileStoreOf({ "/etc/motd": "Go away" });
    expect(await attempt.opensWhole(other.files, "files")).toMatchObject({ complete: false });
  });

  it("if the other format is gone", async () => {
    const { attempt } = await claimSecond();
    await remove(first);
    expect(await attempt.opensWhole(store.files, "files")).toMatchObject({ complete: false });
  });

  it("by another appliance", async () => {
    const other = await startBuild(tux, await createAppliance(tux));
    const attempt = await agent.claimsBuild(other);
    expect(await attempt.opensWhole(store.files, "files")).toMatchObject({ complete: false });
  });
});
