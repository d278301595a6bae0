import { env } from "cloudflare:workers";
import { enums, generateKey, readKey, reformatKey, revokeKey } from "openpgp";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { listGpgKeys } from "#storage/gpg-keys";
import stranger from "../fixtures/repodata/signed/stranger.key?raw";
import tiny from "../fixtures/repodata/signed/tiny.key?raw";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError } from "../support/xml.ts";
import { addKey, binaryOf, bytesOf, formType, keyForm, named, newKey, type KeyRequest } from "../support/gpg-keys.ts";

const db = openDatabase(env);

beforeAll(loadTemplates);

/** A number and a packet of OpenPGP (RFC 9580, sections 3.2 and 4.2). */
const number = (bits: number) => [bits >> 8, bits & 255, ...new Uint8Array(bits / 8).fill(255)];
const packet = (tag: number, body: number[]) => [0xc0 | tag, 255, 0, 0, body.length >> 8, body.length & 255, ...body];

/** A DSA key, without a signature, with numbers of these sizes. */
function dsaKey(p: number, q: number): Uint8Array {
  const created = [95, 0, 0, 0];
  const key = [4, ...created, enums.publicKey.dsa, ...number(p), ...number(q), ...number(p), ...number(p)];
  return Uint8Array.from([...packet(enums.packet.publicKey, key), ...packet(enums.packet.userID, [...bytesOf("tux")])]);
}

/** A key that has signed this many of its user ids. */
const signedBySelf = (count: number) => async () => {
  const userIDs = Array.from({ length: count - 1 }, (_, nth) => ({ name: `Tux ${nth}` })); // and one for its subkey
  return (await reformatKey({ privateKey: await newKey(), userIDs, format: "object" })).publicKey.armor();
};

/** A key with a signature for each of four user ids, and one for its subkey. */
async function brainpoolSignedBySelf(): Promise<string> {
  const userIDs = [1, 2, 3, 4].map((nth) => ({ name: `Tux ${nth}` }));
  return (await generateKey({ type: "ecc", curve: "brainpoolP256r1", userIDs, format: "object" })).publicKey.armor();
}

describe("POST gpg_keys", () => {
  it.each<[string, KeyRequest, string]>([
    ["no name", { query: { target: "rpm", key: tiny } }, "invalid_name"],
    ["an empty name", { query: { name: "", target: "rpm", key: tiny } }, "invalid_name"],
    ["a name of spaces", { query: { ...named, name: "  ", key: tiny } }, "invalid_name"],
    ["a name of two lines", { query: { ...named, name: "a\nb", key: tiny } }, "invalid_name"],
    ["a name that is too long", { query: { ...named, name: "a".repeat(256), key: tiny } }, "invalid_name"],
    ["no target", { query: { name: "a", key: tiny } }, "invalid_target"],
    ["another target", { query: { name: "a", target: "apt", key: tiny } }, "invalid_target"],
    ["no name, no target and no key", { query: {} }, "invalid_name"],
    ["no key", {}, "invalid_key"],
    ["an empty form", { body: "", headers: formType }, "invalid_key"],
    ["an SSH key", { body: keyForm({}, bytesOf("ssh-rsa AAAA")) }, "invalid_key"],
    [
      "bytes that are not a key",
      {
        body: keyForm(
          {},
          Uint8Array.from({ length: 900 }, (_, at) => 128 + (at % 128)),
        ),
      },
      "invalid_key",
    ],
    [
      "an empty armour",
      { body: "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----" },
      "invalid_key",
    ],
    ["half a key", { body: tiny.slice(0, tiny.length / 2) }, "invalid_key"],
    ["a message", { body: tiny.replaceAll("PUBLIC KEY BLOCK", "MESSAGE") }, "invalid_key"],
    ["an invalid form", { body: "x", headers: { "content-type": "multipart/form-data" } }, "invalid_key"],
  ])("refuses %s", async (_, call, code) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await expectError(await addKey(tux, id, call), 400, code);
    expect(await listGpgKeys(db, id)).toEqual([]);
  });

  it.each<[string, () => Promise<BodyInit> | BodyInit, RegExp]>([
    ["a private key", async () => (await newKey()).armor(), /private key/],
    ["a private key in binary", async () => keyForm({}, (await newKey()).write()), /private key/],
    ["a DSA key of 4096 bits", () => keyForm({}, dsaKey(4096, 256)), /larger than a DSA key of 3072 bits/],
    ["a DSA key with a large q", () => keyForm({}, dsaKey(3072, 512)), /larger than a DSA key of 3072 bits/],
    ["a key with 33 signatures by itself", signedBySelf(33), /more than 32 signatures by itself/],
    ["a brainpool key with 5 signatures by itself", brainpoolSignedBySelf, /more than 4 signatures by itself/],
    ["a key that is too large", () => `${tiny}${" ".repeat(2 ** 18)}`, /larger than 256 KiB/],
    ["a body that is too large", () => `${tiny}${" ".repeat(2 ** 20)}`, /larger than 256 KiB/],
    ["several blocks", () => stranger + tiny, /2 blocks/],
    [
      "several keys in one block",
      async () => keyForm({}, Buffer.concat([await binaryOf(tiny), await binaryOf(stranger)])),
      /2 keys/,
    ],
    ["a revoked key", async () => (await revokeKey({ key: await newKey(), format: "armored" })).publicKey, /revoked/],
    ["a key with a forged name", async () => await renamedKey(), /no valid self-signature/],
  ])("refuses %s with a reason that does not repeat it", async (_, bodyFor, message) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const told = await expectError(await addKey(tux, id, { body: await bodyFor() }), 400, "invalid_key");
    expect(told).toMatch(message);
    expect(told).not.toContain("BEGIN PGP");
    expect(await listGpgKeys(db, id)).toEqual([]);
  });
});

/** A key whose user id was changed after it was signed. */
async function renamedKey(): Promise<string> {
  const { publicKey } = await reformatKey({ privateKey: await newKey(), userIDs: [{ name: "Eve" }], format: "object" });
  const bytes = Buffer.from(publicKey.write());
  bytes.set(Buffer.from("Bob"), bytes.indexOf("Eve"));
  return (await readKey({ binaryKey: bytes })).armor();
}
