import { createHash, createPublicKey, verify } from "node:crypto";
import { Buffer } from "node:buffer";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { preAuthEncoding } from "#lib/attest/dsse";
import { getAttestations } from "#domain/builds/attestation";
import { deleteForeignAttestations } from "#domain/builds/foreign-attestations";
import { keepAttestations } from "#storage/attestations";
import { attestationsKey, installedKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { CycloneDx, Provenance, Spdx } from "../attest/shapes.ts";
import { Envelope, otherKey, bodyOf } from "../support/attestations.ts";
import { runAlarm } from "../support/builds.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, sha256 } from "../support/fake-agent.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const image = bytesOf("an image");

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const get = (buildId: number, format: string, who = tux) => who.get(`/builds/${buildId}/attestations/${format}`);
const textOf = async (buildId: number, format: string, who = tux) => await bodyOf(await get(buildId, format, who));

/** The statement of an envelope, after checking that a key of the service has signed it. */
function verified(jsonLines: string, pem: string) {
  const { payload, payloadType, signatures } = Envelope.parse(JSON.parse(jsonLines));
  const bytes = Buffer.from(payload, "base64");
  const signature = Buffer.from(signatures[0]?.sig ?? "", "base64");
  expect(verify(null, preAuthEncoding(payloadType, bytes), createPublicKey(pem), signature)).toBe(true);
  return Provenance.parse(JSON.parse(bytes.toString()));
}

describe("GET builds/:id/attestations", () => {
  it("lists the documents of an image", async () => {
    const { buildId } = await createBuild(tux, image);

    const { attestations } = await readXml(await tux.get(`/builds/${buildId}/attestations`));

    expect(attestations["@type"]).toBe("array");
    const name = "Kiosk.x86_64-0.0.1.oem.tar.gz";
    expect(attestations.attestation.map(({ file_name }: { file_name: string }) => file_name)).toEqual([
      `${name}.spdx.json`,
      `${name}.cdx.json`,
      `${name}.intoto.jsonl`,
    ]);
    for (const { url, sha256, content_type } of attestations.attestation) {
      const answer = await tux.get(new URL(url).pathname.replace("/api/v2/user", ""));
      expect(answer.headers.get("content-type")).toBe(content_type);
      expect(
        createHash("sha256")
          .update(await bodyOf(answer))
          .digest("hex"),
      ).toBe(sha256);
    }
  });

  it("lists the image's packages, and whether they were resolved", async () => {
    const installed = [
      { name: "busybox", version: "0", release: "0", arch: "x86_64" },
      { name: "stray", version: "1", release: "1", arch: "noarch" },
    ];
    const { buildId } = await createBuild(tux, image, { installed });

    const spdx = Spdx.parse(JSON.parse(await textOf(buildId, "spdx")));
    const cyclonedx = CycloneDx.parse(JSON.parse(await textOf(buildId, "cyclonedx")));

    expect(spdx.packages.map(({ name }) => name)).toEqual(["Kiosk", "busybox", "stray"]);
    expect(spdx.packages[0]?.checksums?.[0]).toEqual({ algorithm: "SHA256", checksumValue: sha256(image) });
    expect(cyclonedx.components.map(({ name }) => name)).toEqual(["busybox", "stray"]);
  });

  it("signs the checksum of the disk inside, if the agent reported it", async () => {
    const pem = await bodyOf(await visit("/.well-known/kiln-attestation.pem"));
    const byproductsOf = async (told: object) => {
      const { buildId } = await createBuild(tux, image, told);
      const { predicate } = verified(await textOf(buildId, "provenance"), pem);
      return predicate.runDetails.byproducts.slice(1);
    };
    const disk = "Kiosk.x86_64-0.0.1.oem/Kiosk.x86_64-0.0.1.oem.raw";
    const digest = { sha256: "d".repeat(64) };
    expect(await byproductsOf({ diskSha256: digest.sha256 })).toEqual([{ name: disk, digest }]);
    expect(await byproductsOf({})).toEqual([]);
  });

  it("signs the origin of the image, including both bills", async () => {
    const { applianceId, buildId } = await createBuild(tux, image);
    const pem = await bodyOf(await visit("/.well-known/kiln-attestation.pem"));

    const { subject, predicate } = verified(await textOf(buildId, "provenance"), pem);

    const name = "Kiosk.x86_64-0.0.1.oem.tar.gz";
    expect(subject.map(({ name, digest }) => [name, digest.sha256])).toEqual([
      [name, sha256(image)],
      [`${name}.spdx.json`, sha256(bytesOf(await textOf(buildId, "spdx")))],
      [`${name}.cdx.json`, sha256(bytesOf(await textOf(buildId, "cyclonedx")))],
    ]);
    expect(predicate.buildDefinition.externalParameters).toMatchObject({ appliance: { id: applianceId } });
    expect(predicate.buildDefinition.resolvedDependencies).toContainEqual({
      name: "busybox",
      digest: { sha256: "0".repeat(64) },
      uri: "pkg:rpm/busybox@1.35.0-1?arch=x86_64&distro=tiny-1.0",
    });
    expect(predicate.runDetails.metadata.invocationId).toBe(String(buildId));
    expect(predicate.buildDefinition.internalParameters).toMatchObject({ builderRoot: "host" });
    expect(predicate.runDetails.builder.builderDependencies).toBeUndefined();
  });

  it("names the builder root that the image was built in by its digest", async () => {
    const builderRoot = { name: "debian-13", sha256: "d".repeat(64) };
    const { buildId } = await createBuild(tux, image, { builderRoot });
    const pem = await bodyOf(await visit("/.well-known/kiln-attestation.pem"));

    const { predicate } = verified(await textOf(buildId, "provenance"), pem);

    expect(predicate.buildDefinition.internalParameters).toMatchObject({ builderRoot: "debian-13" });
    expect(predicate.runDetails.builder.builderDependencies).toEqual([
      { name: "builder root debian-13", digest: { sha256: "d".repeat(64) } },
    ]);
  });

  it("says whether the image was built in a guest, and from what", async () => {
    const conditions = {
      isolation: "none" as const,
      startedFrom: { kind: "packages" as const, key: "a".repeat(64) },
    };
    const { buildId } = await createBuild(tux, image, { conditions });
    const pem = await bodyOf(await visit("/.well-known/kiln-attestation.pem"));

    const { predicate } = verified(await textOf(buildId, "provenance"), pem);

    expect(predicate.buildDefinition.internalParameters).toMatchObject(conditions);
  });

  it("is made when the build ends, and remains valid without its key", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    await runAlarm(buildId);
    expect(await env.BLOBS.head(attestationsKey(uid))).not.toBeNull();
    const before = await textOf(buildId, "provenance");
    const build = await findAnyBuild(db, buildId);
    if (!build) throw new Error("the build is gone");

    const { provenance } = await getAttestations(
      { env: { ...env, ATTESTATION_KEY: (await otherKey()).pkcs8 }, db },
      build,
    );

    expect(provenance).toBe(before);
  });

  it("is made again if its key has leaked, and stays if its key is listed", async () => {
    const { buildId } = await createBuild(tux, image);
    const before = await textOf(buildId, "provenance");
    const { pkcs8 } = await otherKey();
    const build = await findAnyBuild(db, buildId);
    if (!build) throw new Error("the build is gone");

    await operate("POST", "/keys/resign", {});
    expect(await textOf(buildId, "provenance")).toBe(before);

    const changed = { ...env, ATTESTATION_KEY: pkcs8 };
    for (let after: number | null = buildId - 1; after !== null;) {
      after = (await deleteForeignAttestations({ env: changed, db }, after)).next;
    }
    const { provenance } = await getAttestations({ env: changed, db }, build);
    expect(provenance).not.toBe(before);
    expect(await deleteForeignAttestations({ env: changed, db }, buildId - 1)).toMatchObject({ deleted: 0 });
  });

  it("is made at the first request for an older build", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    const before = await textOf(buildId, "provenance");
    await env.BLOBS.delete(attestationsKey(uid));

    const all = await Promise.all([1, 2, 3].map(() => textOf(buildId, "provenance")));

    expect(all).toEqual([before, before, before]);
    expect(await env.BLOBS.head(attestationsKey(uid))).not.toBeNull();
  });

  it("keeps the first of two that are made at the same time", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    const first = await textOf(buildId, "provenance");
    const other = { spdx: "{}", cyclonedx: "{}", provenance: "{}" };

    expect(await keepAttestations(env.BLOBS, uid, other)).toMatchObject({ provenance: first });
    expect(await textOf(buildId, "provenance")).toBe(first);
  });

  it("is readable by readers, and for a published version by everyone", async () => {
    const friend = await signedIn();
    const { applianceId, buildId } = await createBuild(tux, image);
    await tux.post(`/appliances/${applianceId}/sharing/${friend.username}`);
    const published = await publishedAppliance(tux);

    expect((await get(buildId, "spdx", friend)).status).toBe(200);
    expect((await get(published.buildId, "spdx", await signedIn())).status).toBe(200);
  });

  it("is refused for a build without an image", async () => {
    const { applianceId, buildId, agent } = await createBuild(tux, image);
    const failed = await startBuild(tux, applianceId);
    await (await agent.claimsBuild(failed)).call("fail", { kind: "failed", reason: "Problem: no" });

    await expectError(await get(failed, "spdx"), 400, "build_not_found");
    const unknown = await expectError(await get(buildId, "spdx.json"), 400, "invalid_value");
    expect(unknown).toBe("Pick one of spdx, cyclonedx, provenance, rebuilds, vex.");
    const none = await expectError(await get(buildId, "rebuilds"), 400, "invalid_value");
    expect(none).toBe(`Build ${buildId} has no statements about rebuilds.`);
  });

  it("is refused if its sources no longer exist", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    await runAlarm(buildId);
    await env.BLOBS.delete([installedKey(uid), attestationsKey(uid)]);

    await expectError(await get(buildId, "spdx"), 400, "build_not_found");
  });

  it("is deleted when the image expires", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    await runAlarm(buildId); // which would recreate it
    await textOf(buildId, "spdx");

    await sweepIn(31 * 24 * 60 * 60_000, { KEEP_IMAGES_DAYS: "30" });

    await expectError(await get(buildId, "spdx"), 400, "build_not_found");
    expect(await env.BLOBS.head(attestationsKey(uid))).toBeNull();
  });

  it("is kept as long as the image", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    const before = await textOf(buildId, "spdx");

    await sweepIn(24 * 60 * 60_000);

    expect(await env.BLOBS.head(attestationsKey(uid))).not.toBeNull();
    expect(await textOf(buildId, "spdx")).toBe(before);
  });
});

describe("next to the image", () => {
  it.each(["the owner", "a reader"])("serves each document to anyone with the URL of %s", async (client) => {
    const { applianceId, buildId } = await createBuild(tux, image);
    const rhea = await signedIn();
    await tux.post(`/appliances/${applianceId}/sharing/${rhea.username}`);
    const { build } = await readXml(await (client === "the owner" ? tux : rhea).get(`/builds/${buildId}`));
    const path = new URL(build.download_url).pathname;

    for (const [suffix, format] of [
      [".spdx.json", "spdx"],
      [".cdx.json", "cyclonedx"],
      [".intoto.jsonl", "provenance"],
    ] as const) {
      const answer = await visit(path + suffix);
      expect(answer.headers.get("content-disposition")).toContain(suffix);
      expect(await bodyOf(answer)).toBe(await textOf(buildId, format));
      const part = await visit(path + suffix, { headers: { range: "bytes=0-0" } });
      expect([part.status, await bodyOf(part)]).toEqual([206, "{"]);
    }
    expect((await visit(`${path}.sig`)).status).toBe(404);
    expect((await visit(path)).headers.get("link")).toContain('.spdx.json>; rel="describedby"');
  });
});
