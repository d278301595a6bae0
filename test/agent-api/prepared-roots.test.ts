/** A build shares its prepared root with builds of the same version in other formats. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attemptHeader, partDigestHeader } from "#lib/contract/index";
import { isRootShared } from "#domain/builds/prepared-root";
import { buildPrefix } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, sha256, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError } from "../support/xml.ts";

beforeAll(loadTemplates);

const db = openDatabase(env);
const hourMs = 60 * 60_000;
const key = "a".repeat(64);
const archive = bytesOf("a root, prepared");

let tux: Client;
let one: FakeAgent;
let other: FakeAgent;
beforeEach(async () => {
  tux = await signedIn();
  one = await fakeAgent();
  other = await fakeAgent();
});

const startOther = (applianceId: number, imageType: string): Promise<number> =>
  startBuild(tux, applianceId, { image_type: imageType, multi: "true" });

const requestRoot = (agent: FakeAgent, { claim }: Attempt, wanted = key, token = claim.token) =>
  agent.call("GET", `/builds/${claim.buildId}/prepared/${wanted}`, { headers: { [attemptHeader]: token } });

/** An appliance whose first build has shared its root. */
async function sharedRoot() {
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  const attempt = await one.claimsBuild(buildId);
  await attempt.uploads(bytesOf("an image"));
  await attempt.uploadsArtifact("prepared", archive);
  expect((await attempt.finishes({ prepared: { key } })).status).toBe(200);
  return { applianceId, buildId, uid: attempt.uid };
}

const sweepAfter = (hours: number, keep = "24") => sweepIn(hours * hourMs, { KEEP_PREPARED_HOURS: keep });

const preparedBlobs = async (uid: string) => {
  const { objects } = await env.BLOBS.list({ prefix: `${buildPrefix(uid)}prepared` });
  return objects.length;
};

describe("a prepared root", () => {
  it("is served with its digest to startOther format's build", async () => {
    const { applianceId } = await sharedRoot();
    const attempt = await other.claimsBuild(await startOther(applianceId, "iso"));

    const answer = await requestRoot(other, attempt);

    expect([answer.status, answer.headers.get(partDigestHeader)]).toEqual([200, sha256(archive)]);
    expect(answer.headers.get("content-length")).toBe(String(archive.byteLength));
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(archive);
  });

  it("is served only to builds of its appliance while they run", async () => {
    const { applianceId } = await sharedRoot();
    const attempt = await other.claimsBuild(await startOther(applianceId, "iso"));
    const theirs = await other.claimsBuild(await startBuild(tux, await createAppliance(tux)));

    const answers = [
      requestRoot(other, theirs),
      requestRoot(other, attempt, "b".repeat(64)),
      requestRoot(other, attempt, "..%2f..%2finputs"),
      requestRoot(other, attempt, key, "another-token"),
      other.call("GET", `/builds/${attempt.claim.buildId}/prepared/${key}`),
      visit(`/agent/builds/${attempt.claim.buildId}/prepared/${key}`),
    ];
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404, 400, 410, 400, 401]);
    await attempt.call("fail", { kind: "failed", reason: "no" });
    expect((await requestRoot(other, attempt)).status).toBe(410);
  });

  it("is replaced by a later one with the same key", async () => {
    const { applianceId } = await sharedRoot();
    const second = await other.claimsBuild(await startOther(applianceId, "iso"));
    await second.uploads(bytesOf("a medium"));
    await second.uploadsArtifact("prepared", bytesOf("the same, elsewhere"));
    await second.finishes({ prepared: { key } });

    const third = await other.claimsBuild(
      await startBuild(tux, applianceId, { image_type: "iso", multi: "true", force: "true" }),
    );
    const got = new Uint8Array(await (await requestRoot(other, third)).arrayBuffer());
    expect(got).toEqual(bytesOf("the same, elsewhere"));
  });

  it("is missing without its key or upload, and the build still finishes", async () => {
    const applianceId = await createAppliance(tux);
    const attempt = await one.claimsBuild(await startBuild(tux, applianceId));
    await attempt.uploads(bytesOf("an image"));
    expect((await attempt.finishes({ prepared: { key } })).status).toBe(200);
    const second = await other.claimsBuild(await startOther(applianceId, "iso"));
    expect((await requestRoot(other, second)).status).toBe(404);
  });

  it("is deleted with its blob after KEEP_PREPARED_HOURS", async () => {
    const { buildId, uid } = await sharedRoot();
    await sweepAfter(23);
    expect(await preparedBlobs(uid)).toBe(1);
    await sweepAfter(25);
    expect(await preparedBlobs(uid)).toBe(0);
    expect((await findAnyBuild(db, buildId))?.status).toBe("finished");
  });

  it("is deleted with the build that shared it", async () => {
    const { applianceId, buildId } = await sharedRoot();
    const attempt = await other.claimsBuild(await startOther(applianceId, "iso"));
    expect((await tux.delete(`/builds/${buildId}`)).status).toBe(200);
    expect((await requestRoot(other, attempt)).status).toBe(404);
    await sweepAfter(0);
    expect((await requestRoot(other, attempt)).status).toBe(404);
  });
});

describe("a claim", () => {
  it("shares its root if other formats exist and agents can use it", async () => {
    const applianceId = await createAppliance(tux);
    const first = await one.claimsBuild(await startBuild(tux, applianceId));
    await first.uploads(bytesOf("an image"));
    await first.finishes();
    const second = await one.claimsBuild(await startOther(applianceId, "iso"));

    expect([first.claim.sharesRoot, second.claim.sharesRoot]).toEqual([undefined, true]);
    const row = await findAnyBuild(db, second.claim.buildId);
    if (!row) throw new Error("the build is gone");
    for (const keep of ["0", "", "some"]) {
      expect(await isRootShared({ env: { ...env, KEEP_PREPARED_HOURS: keep }, db }, row)).toBe(false);
    }
    await env.DB.prepare("UPDATE agents SET last_seen_at = 0 WHERE id <> ?").bind(one.id).run();
    expect(await isRootShared({ env, db }, row)).toBe(false);
  });
});

describe("multi=true", () => {
  it("waits for the first format of the newest version", async () => {
    const { applianceId } = await sharedRoot(); // 0.0.1
    const next = await startBuild(tux, applianceId); // 0.0.2
    const answer = await tux.post("/running_builds", { appliance_id: applianceId, image_type: "iso", multi: "true" });
    await expectError(answer, 400, "initial_build_pending");

    const attempt = await one.claimsBuild(next);
    await attempt.uploads(bytesOf("an image"));
    await attempt.finishes();
    const iso = await findAnyBuild(db, await startOther(applianceId, "iso"));
    expect(iso).toMatchObject({ version: "0.0.2", imageType: "iso" });
  });
});
