import { Buffer } from "node:buffer";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { findBuildByUid } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { signedIn, visit, type Client } from "../support/client.ts";
import { startBuild } from "../support/factories.ts";
import { bytesOf, sha256, type Attempt, result } from "../support/fake-agent.ts";
import { canRebuild, claimedRebuild, rebuildsOf } from "../support/rebuilds.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

const hourMs = 60 * 60_000;
const db = openDatabase(env);
const image = bytesOf("an image");
const other = bytesOf("another image");
const files = { "/etc/issue": "Welcome", "/etc/built": "Monday" };
const store = fileStoreOf(files);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const states = (attempt: Attempt, bytes: Uint8Array) =>
  attempt.call("rebuilt", { sha256: sha256(bytes), size: bytes.byteLength });

/** A build whose rebuild another agent has claimed. */
const rebuilding = () => claimedRebuild(tux, image, store);

async function statementsAbout(buildId: number) {
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  const answer = await visit(`${new URL(build.download_url).pathname}.rebuilds.intoto.jsonl`);
  const lines = answer.ok ? (await answer.text()).trimEnd().split("\n") : [];
  return lines.map((line) => JSON.parse(Buffer.from(JSON.parse(line).payload, "base64").toString()));
}

describe("a rebuild", () => {
  it("gets the same input again, without the expected digest", async () => {
    const { attempt } = await rebuilding();

    expect(attempt.claim).toMatchObject({ isRebuild: true, input: { appliance: { version: "0.0.1" } } });
    expect(JSON.stringify(attempt.claim)).not.toContain(sha256(image));
  });

  it("that makes the same bytes is signed", async () => {
    const { buildId, attempt } = await rebuilding();

    expect(await (await states(attempt, image)).json()).toEqual({ same: true });
    expect((await attempt.finishes()).status).toBe(200);

    expect(await rebuildsOf(tux, buildId)).toMatchObject([
      { build_id: buildId, state: "same", by_other_agent: true, sha256: sha256(image), differences: [] },
    ]);
    expect(await statementsAbout(buildId)).toMatchObject([
      {
        subject: [{ digest: { sha256: sha256(image) } }],
        predicateType: "urn:kiln:rebuild:1",
        predicate: { result: "same", byOtherAgent: true, build: String(buildId) },
      },
    ]);
  });

  it("that makes other bytes names the files that differ", async () => {
    const { buildId, attempt } = await rebuilding();

    expect(await (await states(attempt, other)).json()).toEqual({ same: false });
    expect((await attempt.finishes()).status).toBe(409);
    const { index } = fileStoreOf({ "/etc/built": "Tuesday", "/etc/issue": "Welcome", "/etc/new": "" });
    await attempt.uploadsArtifact("files-index", index);
    expect((await attempt.finishes()).status).toBe(200);

    expect(await rebuildsOf(tux, buildId)).toMatchObject([
      {
        state: "differs",
        sha256: sha256(other),
        differences: [
          { path: "/etc/built", change: "changed", what: "content" },
          { path: "/etc/new", change: "added" },
        ],
      },
    ]);
    const [statement] = await statementsAbout(buildId);
    expect(statement.predicate).toMatchObject({ result: "differs", hasMore: false });
    expect(statement.predicate.differences).toHaveLength(2);
  });

  it("with the same bytes names the packages that only one of the two agents has reported", async () => {
    const { buildId, attempt } = await rebuilding();
    await states(attempt, image);
    const [busybox] = result.installed;

    await attempt.finishes({ installed: [{ name: "hidden", version: "1.0", release: "1", arch: "noarch" }] });

    expect(busybox).toMatchObject({ name: "busybox" });
    expect(await rebuildsOf(tux, buildId)).toMatchObject([
      {
        state: "differs",
        sha256: sha256(image),
        differences: [
          { path: "busybox-0:1.35.0-1.x86_64", change: "removed", what: "package" },
          { path: "hidden-0:1.0-1.noarch", change: "added", what: "package" },
        ],
      },
    ]);
    const [statement] = await statementsAbout(buildId);
    expect(statement.predicate).toMatchObject({ result: "differs", image: { digest: { sha256: sha256(image) } } });
  });

  it("with the same bytes names the files that the first agent has listed otherwise", async () => {
    const { buildId, attempt } = await rebuilding();
    await states(attempt, image);
    await attempt.uploadsArtifact("files-index", fileStoreOf({ ...files, "/etc/built": "Tuesday" }).index);

    await attempt.finishes();

    const different = [{ path: "/etc/built", change: "changed", what: "content" }];
    expect(await rebuildsOf(tux, buildId)).toMatchObject([
      { state: "differs", same_bytes: true, differences: different },
    ]);
  });

  it("with the same bytes and the same files is the same", async () => {
    const { buildId, attempt } = await rebuilding();
    await states(attempt, image);
    await attempt.uploadsArtifact("files-index", store.index);

    await attempt.finishes();

    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "same", same_bytes: true, differences: [] }]);
  });

  it("ends although the index of its files is damaged", async () => {
    const { buildId, attempt } = await rebuilding();
    await states(attempt, other);
    await attempt.uploadsArtifact("files-index", bytesOf("not an index"));

    expect((await attempt.finishes()).status).toBe(200);

    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "differs", same_bytes: false, differences: [] }]);
  });

  it("makes no version, no image and no build that anyone sees", async () => {
    const { buildId, applianceId, attempt } = await rebuilding();
    await states(attempt, image);
    await attempt.finishes();

    const { builds } = await readXml(await tux.get(`/builds?appliance_id=${applianceId}`));
    expect(builds.build.id).toBe(String(buildId));
    const { appliance } = await readXml(await tux.get(`/appliances/${applianceId}`));
    expect(appliance.builds.build.id).toBe(String(buildId));
    const next = await startBuild(tux, applianceId);
    const { running_build: running } = await readXml(await tux.get(`/running_builds/${next}`));
    expect(running.version).toBe("0.0.2");
    await expectError(await tux.get(`/builds/${attempt.claim.buildId}`), 404, "invalid_build_id");
  });

  it("cannot be finished as a build, with an image", async () => {
    const { buildId, attempt } = await rebuilding();
    await attempt.uploads(other, store);

    expect((await attempt.finishes()).status).toBe(409);

    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "running" }]);
  });

  it("keeps the first statement of an attempt, now that it knows the answer", async () => {
    const { attempt } = await rebuilding();
    await states(attempt, other);

    expect((await states(attempt, image)).ok).toBe(false);
    expect(await (await states(attempt, other)).json()).toEqual({ same: false });
  });

  it("is tried again after a fault of its host, and then says why there is no image", async () => {
    const { buildId, attempt, agent } = await rebuilding();
    const rebuildId = attempt.claim.buildId;
    await attempt.call("fail", { kind: "error", reason: "The disk is broken." });
    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "queued" }]);
    const again = await agent.claimsBuild(rebuildId, canRebuild);

    await again.call("fail", { kind: "failed", reason: "The mirror is gone." });

    expect(await rebuildsOf(tux, buildId)).toMatchObject([{ state: "failed", message: "The mirror is gone." }]);
    expect(await statementsAbout(buildId)).toEqual([]);
  });

  it("is swept with its build", async () => {
    const { buildId, attempt } = await rebuilding();
    const { uid } = attempt;

    await tux.delete(`/builds/${buildId}`);
    expect(await (await attempt.beats()).json()).toEqual({ cancel: true });
    await sweepIn(48 * hourMs);

    expect(await findBuildByUid(db, uid)).toBeUndefined();
  });
});
