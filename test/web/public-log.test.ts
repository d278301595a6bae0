import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { isSignedBy, readCheckpoint } from "#lib/attest/log/checkpoint";
import { continues } from "#lib/attest/log/history";
import { entryOf, provenCheckpoint, readProof } from "#lib/attest/log/proof";
import { statementDigest } from "#lib/attest/dsse";
import { attestationsKey, logFileKey } from "#storage/blobs";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { bytesOf, sha256 } from "../support/fake-agent.ts";
import { galleryPath, publish, publishedAppliance } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const fileOf = async (path: string) => await visit(`/log/${path}`);
const checkpointNote = async () => await (await fileOf("checkpoint")).text();
const headNow = async () => readCheckpoint(await checkpointNote()) ?? expect.fail("there is no checkpoint");
const sizeNow = async () => ((await fileOf("checkpoint")).ok ? (await headNow()).size : 0);
const readTile = async (path: string) => await (await fileOf(path)).bytes();

/** The text of the file with this suffix next to an image. */
async function besideImage(buildId: number, suffix: string): Promise<Response> {
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  return await visit(`${new URL(build.download_url).pathname}${suffix}`);
}

/** The checkpoint of an image's proof, and the image's position. Fails if the proof is invalid. */
async function proven(buildId: number, image = bytesOf("an image")) {
  const answer = await besideImage(buildId, ".tlog-proof");
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(Buffer.byteLength(text)).toBeLessThan(2048);
  const statement = statementDigest(await (await besideImage(buildId, ".intoto.jsonl")).text());
  const proof = readProof(text) ?? expect.fail("not a proof");
  const { keys } = await (await visit("/.well-known/kiln-attestation-keys.json")).json<{ keys: { pem: string }[] }>();
  expect(isSignedBy(proof.note, keys)).toBe(true);
  const checkpoint = provenCheckpoint(entryOf({ image: sha256(image), statement }), proof);
  return { position: proof.position, checkpoint: checkpoint ?? expect.fail("the entry is not in the log") };
}

const logObject = () => env.IMAGE_LOG.getByName("log");

describe("the public log", () => {
  it("has each image of a version from its publication on", async () => {
    const { buildId } = await createBuild(tux);
    expect((await besideImage(buildId, ".tlog-proof")).status).toBe(404);
    const { buildId: published } = await publishedAppliance(tux);

    const { position, checkpoint } = await proven(published);

    expect(checkpoint).toEqual(await headNow());
    expect(position).toBe(checkpoint.size - 1);
    expect((await besideImage(buildId, ".tlog-proof")).status).toBe(404);
  });

  it("serves entries that hold two digests, and nothing about the account or the appliance", async () => {
    const { buildId } = await publishedAppliance(tux);
    const { position, checkpoint } = await proven(buildId);
    expect(checkpoint.size).toBeLessThan(256);
    const bundle = Buffer.from(await readTile(`tile/entries/000.p/${checkpoint.size}`));
    const entries: string[] = [];
    for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at))
      entries.push(bundle.subarray(at + 2, at + 2 + bundle.readUInt16BE(at)).toString());
    const digest = /^[0-9a-f]{64}$/;
    expect(JSON.parse(entries[position] ?? "")).toEqual({
      type: "kiln-image-v1",
      image: sha256(bytesOf("an image")),
      statement: expect.stringMatching(digest),
    });
    const tile = Buffer.from(await readTile(`tile/0/000.p/${checkpoint.size}`));
    const leaf = createHash("sha256")
      .update(Buffer.of(0))
      .update(entries[position] ?? "")
      .digest();
    expect(tile.subarray(position * 32, position * 32 + 32)).toEqual(leaf);
  });

  it("only grows, and proves it to anyone who has stored a checkpoint", async () => {
    await publishedAppliance(tux);
    const kept = await headNow();
    await publishedAppliance(tux);
    await publishedAppliance(tux);
    const now = await headNow();
    expect(now.size).toBe(kept.size + 2);
    expect(await continues(kept, now, readTile)).toBe(true);
  });

  it("gives publications at the same time a position each", async () => {
    const built = [await createBuild(tux), await createBuild(tux), await createBuild(tux), await createBuild(tux)];
    const before = await sizeNow();
    await Promise.all(built.map(({ applianceId }) => publish(tux, applianceId)));
    const positions = await Promise.all(built.map(async ({ buildId }) => (await proven(buildId)).position));
    expect(positions.toSorted((one, other) => one - other)).toEqual([before, before + 1, before + 2, before + 3]);
  });

  it("has an image once, even if its version is published again", async () => {
    const { applianceId, buildId } = await publishedAppliance(tux);
    const { position } = await proven(buildId);
    const size = await sizeNow();
    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect((await proven(buildId)).position).toBe(position);
    expect((await publish(tux, applianceId)).ok).toBe(true);
    await sweepIn(0);
    expect((await proven(buildId)).position).toBe(position);
    expect(await sizeNow()).toBe(size);
  });

  it("gets a version from the sweep if it could not be logged when it was published, or was published before", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const put = vi.spyOn(env.BLOBS, "put").mockRejectedValue(new Error("R2 is away"));
    const answer = await publish(tux, applianceId);
    put.mockRestore();
    expect(answer.ok).toBe(true);
    await sweepIn(0);
    await proven(buildId);
  });

  it("finds an entry again after the database was restored to a moment before it", async () => {
    const { buildId } = await publishedAppliance(tux);
    const { position } = await proven(buildId);
    await env.DB.batch([
      env.DB.prepare("UPDATE builds SET log_position = NULL WHERE id = ?").bind(buildId),
      env.DB.prepare("UPDATE publications SET is_logged = 0"),
    ]);
    await sweepIn(0);
    expect((await proven(buildId)).position).toBe(position);
  });

  it("gets another entry for an image that was signed with another statement", async () => {
    const { buildId } = await publishedAppliance(tux);
    const { position } = await proven(buildId);
    const { uid } = (await env.DB.prepare("SELECT uid FROM builds WHERE id = ?")
      .bind(buildId)
      .first<{ uid: string }>()) ?? { uid: "" };
    const stored = await (await env.BLOBS.get(attestationsKey(uid)))?.json<{ provenance: string }>();
    const envelope = JSON.parse(stored?.provenance ?? "");
    const statement = { ...JSON.parse(Buffer.from(envelope.payload, "base64").toString()), another: true };
    const payload = Buffer.from(JSON.stringify(statement)).toString("base64");
    const provenance = `${JSON.stringify({ ...envelope, payload })}\n`;
    await env.BLOBS.put(attestationsKey(uid), JSON.stringify({ ...stored, provenance }));
    expect((await proven(buildId)).position).toBeGreaterThan(position);
  });

  it("signs nothing if the published log is longer than its own, or another one", async () => {
    const { buildId } = await publishedAppliance(tux);
    const { position } = await proven(buildId);
    const note = await checkpointNote();
    const { size } = await headNow();
    const { applianceId } = await createBuild(tux);
    const other = [
      note.replace(`\n${size}\n`, `\n${size + 100}\n`),
      note.replace(/\n[^\n]{44}\n/, `\n${"A".repeat(43)}=\n`),
    ];
    for (const published of other) {
      await env.BLOBS.put(logFileKey("checkpoint"), published);
      await runInDurableObject(logObject(), async (log) => {
        await expect(log.append(["a new entry"])).rejects.toThrow(/published log/);
      });
      expect(await checkpointNote()).toBe(published);
    }
    await publish(tux, applianceId);
    expect(await checkpointNote()).toBe(other[1]);
    await env.BLOBS.put(logFileKey("checkpoint"), note);
    await sweepIn(0);
    expect((await proven(buildId)).position).toBe(position);
    expect((await headNow()).size).toBeGreaterThan(size);
  });

  it("answers 404 for what is not a tile, and lets tiles be cached forever", async () => {
    await publishedAppliance(tux);
    for (const path of ["tile/0/999", "tile/64/000", "tile/0/000.p/999", "tile/..%2fcheckpoint", "tile/0/abc", "other"])
      expect((await fileOf(path)).status).toBe(404);
    const tile = await fileOf(`tile/0/000.p/${await sizeNow()}`);
    expect(tile.headers.get("cache-control")).toContain("immutable");
    expect((await fileOf("checkpoint")).headers.get("cache-control")).toBe("no-cache");
    expect(await (await fileOf("keys")).text()).toMatch(/^\S+\+[0-9a-f]{8}\+\S{44}\n$/);
  });
});
