import { createHash, createPublicKey } from "node:crypto";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { attestBuild, getAttestations } from "#domain/builds/attestation";
import { listPublicKeys } from "#domain/builds/attestation-keys";
import { attestationsKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { Envelope, otherKey, bodyOf } from "../support/attestations.ts";
import { runAlarm } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";

const db = openDatabase(env);
const image = bytesOf("an image");

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

describe("signing keys", () => {
  const keys = z.object({
    keys: z.array(
      z.object({ kid: z.string(), kty: z.literal("OKP"), x: z.string(), pem: z.string(), state: z.string() }),
    ),
  });

  it("are public, with the id that signatures name", async () => {
    const { buildId } = await createBuild(tux, image);
    const { signatures } = Envelope.parse(
      JSON.parse(await bodyOf(await tux.get(`/builds/${buildId}/attestations/provenance`))),
    );

    const listed = keys.parse(await (await visit("/.well-known/kiln-attestation-keys.json")).json());

    expect(listed.keys.map(({ kid, state }) => [kid, state])).toEqual([[signatures[0]?.keyid, "current"]]);
    const spki = createPublicKey(listed.keys[0]?.pem ?? "").export({ type: "spki", format: "der" });
    expect(createHash("sha256").update(spki).digest("hex")).toBe(listed.keys[0]?.kid);
    expect(createPublicKey(listed.keys[0]?.pem ?? "").export({ format: "jwk" }).x).toBe(listed.keys[0]?.x);
  });

  it("stay listed when they are retired; invalid keys are skipped", async () => {
    const { spki } = await otherKey();
    const [own] = await listPublicKeys(env);
    const ownSpki = own?.pem.split("\n")[1] ?? "";

    const listed = await listPublicKeys({
      ...env,
      ATTESTATION_RETIRED_KEYS: ` ${spki}\n${ownSpki} nonsense ${"A".repeat(60)}`,
    });

    expect(listed.map(({ pem, isCurrent }) => [pem.split("\n")[1], isCurrent])).toEqual([
      [ownSpki, true],
      [spki, false],
    ]);
  });

  it("are reported as missing, and no attestation is made", async () => {
    const { buildId, uid } = await createBuild(tux, image);
    await runAlarm(buildId);
    await env.BLOBS.delete(attestationsKey(uid));
    const without = { ...env, ATTESTATION_KEY: "" };
    const build = await findAnyBuild(db, buildId);
    if (!build) throw new Error("the build is gone");

    await attestBuild({ env: without, db }, build.uid);
    await expect(getAttestations({ env: without, db }, build)).rejects.toThrow(/has no signing key/);

    expect(await env.BLOBS.head(attestationsKey(uid))).toBeNull();
    expect(await listPublicKeys(without)).toEqual([]);
  });
});
