import { beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { canRebuild, claimedRebuild, rebuildsOf, startRebuild } from "../support/rebuilds.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError } from "../support/xml.ts";

const hourMs = 60 * 60_000;
const image = bytesOf("an image");

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const start = (buildId: number) => startRebuild(tux, buildId);

describe("POST builds/:id/rebuilds", () => {
  it("returns the rebuild in progress instead of starting a second one", async () => {
    const { buildId, attempt } = await claimedRebuild(tux, image);

    expect(await start(buildId)).toBe(attempt.claim.buildId);
    expect(await rebuildsOf(tux, buildId)).toHaveLength(1);
  });

  it("starts one rebuild for simultaneous requests", async () => {
    const { buildId } = await createBuild(tux, image);

    const ids = await Promise.all([start(buildId), start(buildId), start(buildId)]);

    expect(new Set(ids).size).toBe(1);
  });

  it("keeps the last five", async () => {
    const { buildId } = await createBuild(tux, image);
    const ids: number[] = [];
    for (let nth = 0; nth < 6; nth++) {
      ids.push(await start(buildId));
      await tux.delete(`/builds/${buildId}/rebuilds`);
    }

    expect((await rebuildsOf(tux, buildId)).map(({ id }) => id)).toEqual(ids.slice(1).toReversed());
  });

  it("refuses a build without an image, and one of another account", async () => {
    const { applianceId, buildId } = await createBuild(tux, image);
    const failed = await startBuild(tux, applianceId);
    await tux.delete(`/running_builds/${failed}`);

    await expectError(await tux.post(`/builds/${failed}/rebuilds`), 400, "build_not_found");
    await expectError(await (await signedIn()).post(`/builds/${buildId}/rebuilds`), 404, "invalid_build_id");
  });

  it("refuses when a file that it was made of is gone", async () => {
    const { buildId, applianceId } = await createBuild(tux, image);
    const file = await uploadFile(tux, applianceId, "Hello");
    const agent = await fakeAgent();
    const withFile = await startBuild(tux, applianceId);
    await agent.buildsSuccessfully(withFile, image);
    await tux.delete(`/files/${file.id}`);
    await sweepIn(2 * hourMs);

    await expectError(await tux.post(`/builds/${withFile}/rebuilds`), 400, "build_not_found");
    expect(await start(buildId)).toBeGreaterThan(withFile);
  });
});

describe("the queue", () => {
  it("gives a rebuild to no agent that does not know them", async () => {
    const { buildId } = await createBuild(tux, image);
    await start(buildId);
    const agent = await fakeAgent();

    for (let attempt = await agent.claims(); attempt; attempt = await agent.claims())
      expect(attempt.claim.isRebuild).toBeUndefined();

    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "queued" }]);
  });

  it("gives builds that people wait for first", async () => {
    const { buildId, applianceId } = await createBuild(tux, image);
    const rebuildId = await start(buildId);
    const later = await startBuild(tux, applianceId);
    const agent = await fakeAgent();

    const order: number[] = [];
    for (let attempt = await agent.claims(canRebuild); attempt; attempt = await agent.claims(canRebuild))
      order.push(attempt.claim.buildId);

    expect(order).toContain(rebuildId);
    expect(order.indexOf(later)).toBeLessThan(order.indexOf(rebuildId));
  });

  it("gives it to an agent that did not make the image, if there is one", async () => {
    const { buildId, agent: maker } = await createBuild(tux, image);
    const another = await fakeAgent();
    await another.hello({ rebuilds: true });
    const rebuildId = await start(buildId);

    for (let attempt = await maker.claims(canRebuild); attempt; attempt = await maker.claims(canRebuild))
      expect(attempt.claim.buildId).not.toBe(rebuildId);

    expect((await another.claimsBuild(rebuildId, canRebuild)).claim.isRebuild).toBe(true);
  });
});
