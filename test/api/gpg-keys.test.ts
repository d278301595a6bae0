import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { generateKey, readKey, reformatKey, revokeKey, type PrivateKey } from "openpgp";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { plainArmour } from "#domain/contents/gpg-key";
import { listGpgKeys } from "#storage/gpg-keys";
import { appliances, gpgKeys } from "#storage/schema";
import dsa from "../fixtures/repodata/signed/dsa.key?raw";
import shortRsa from "../fixtures/repodata/signed/short-rsa.key?raw";
import stranger from "../fixtures/repodata/signed/stranger.key?raw";
import tiny from "../fixtures/repodata/signed/tiny.key?raw";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env.DB);
const tinyFingerprint = "e7b7d4b6c6d01c53e594cb9496d4db2024ddeb41";
const formType = { "content-type": "application/x-www-form-urlencoded" };
const named = { name: "repo signing 2012", target: "rpm" };

beforeAll(loadTemplates);

interface Call {
  query?: Record<string, string>;
  body?: BodyInit;
  headers?: Record<string, string>;
  version?: "v1" | "v2";
}

/** POST gpg_keys, as clients send it. */
async function add(tux: Client, id: number, { query = named, body, headers, version = "v2" }: Call = {}) {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const path = `/api/${version}/user/appliances/${id}/gpg_keys?${new URLSearchParams(query)}`;
  return await visit(path, { method: "POST", body: body ?? null, headers: { authorization, ...headers } });
}

function form(fields: Record<string, string>, file?: Uint8Array): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  if (file) data.append("file", new File([file.slice()], "repo.key"));
  return data;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const binary = async (armour: string) => (await readKey({ armoredKey: armour })).toPacketList().write();
const added = async (answer: Response) => (await readXml(answer)).gpg_key;
const fingerprintOf = async (armour: string) => (await readKey({ armoredKey: armour })).getFingerprint();
const newKey = (): Promise<PrivateKey> =>
  generateKey({ userIDs: [{ name: "Repository" }], format: "object" }).then(({ privateKey }) => privateKey);

describe("POST gpg_keys", () => {
  it.each<[string, () => Promise<Call> | Call]>([
    ["in the query", () => ({ query: { ...named, key: tiny } })],
    ["in the query, its pluses not encoded", () => ({ query: { ...named, key: tiny.replaceAll("+", " ") } })],
    ["in a form", () => ({ query: {}, body: new URLSearchParams({ ...named, key: tiny }) })],
    ["in a field of a multipart form", () => ({ body: form({ key: tiny }) })],
    ["as the file of a multipart form", () => ({ query: {}, body: form(named, bytesOf(tiny)) })],
    ["as a binary file", async () => ({ body: form({}, await binary(tiny)) })],
    ["as the body, declared as a form", () => ({ body: tiny, headers: formType })],
    ["as the body, declared as text", () => ({ body: `\n${tiny}`, headers: { "content-type": "text/plain" } })],
    ["as a binary body, declared as a form", async () => ({ body: (await binary(tiny)).slice(), headers: formType })],
    ["with line breaks of another system", () => ({ body: tiny.replaceAll("\n", "\r\n"), headers: formType })],
    ["with text around it", () => ({ body: form({}, bytesOf(`pub rsa3072\n\n${tiny}\nThe end`)) })],
    [
      "in JSON",
      () => ({
        query: {},
        body: JSON.stringify({ ...named, key: tiny }),
        headers: { "content-type": "application/json" },
      }),
    ],
    ["in v1", () => ({ body: tiny, headers: formType, version: "v1" })],
  ])("accepts a key %s", async (_, callFor) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await db
      .update(appliances)
      .set({ lastEditedAt: new Date(0) })
      .where(eq(appliances.id, id));

    const key = await added(await add(tux, id, await callFor()));

    expect(Object.keys(key)).toEqual(["id", "name", "target", "key"]);
    expect(key).toMatchObject(named);
    expect(await fingerprintOf(key.key)).toBe(tinyFingerprint);
    expect(await listGpgKeys(db, id)).toMatchObject([{ id: Number(key.id), fingerprint: tinyFingerprint }]);
    const edited = await db.query.appliances.findFirst({ where: eq(appliances.id, id) });
    expect(edited?.lastEditedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  const asSent = tiny.replace("\n\n", "\nVersion: GnuPG v2.0.18 (GNU/Linux)\nComment: <R&D>, Wien 🐧\n\n");

  it.each<[string, string, (key: string) => Call]>([
    ["in the query", asSent, (key) => ({ query: { ...named, key } })],
    [
      "in the query, with line breaks of another system",
      asSent.replaceAll("\n", "\r\n"),
      (key) => ({ query: { ...named, key } }),
    ],
    ["in a form", asSent, (key) => ({ query: {}, body: new URLSearchParams({ ...named, key }) })],
    ["in a field of a multipart form", asSent, (key) => ({ body: form({ key }) })],
    ["as a file", asSent, (key) => ({ body: form({}, bytesOf(key)) })],
    [
      "as a file with line breaks of another system",
      asSent.replaceAll("\n", "\r\n"),
      (key) => ({ body: form({}, bytesOf(key)) }),
    ],
    ["as the body, with text and lines around it", `\npub rsa3072\n${asSent}\n\n`, (key) => ({ body: key })],
    ["without a line break at its end", asSent.trimEnd(), (key) => ({ body: key })],
    ["without a checksum", asSent.replace(/\n=.{4}\n/, "\n"), (key) => ({ body: key })],
  ])("shows armour unchanged %s, and gives builders a clean copy", async (_, key, callFor) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);

    const answer = await add(tux, id, callFor(key));

    const written = key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const text = await answer.text();
    expect(text).toContain(`  <key>${written}</key>\n`);
    expect(await (await tux.get(`/appliances/${id}/gpg_keys`)).text()).toContain(`<key>${written}</key>`);
    const [stored] = await listGpgKeys(db, id);
    expect(await plainArmour(stored?.key ?? "")).toBe((await readKey({ armoredKey: tiny })).armor());
  });

  it.each<[string, () => Promise<Uint8Array>]>([
    ["binary", () => binary(tiny)],
    [
      "armour with Latin-1 in it",
      async () => Buffer.from(tiny.replace("\n\n", "\nComment: J\u00fcrgen\n\n"), "latin1"),
    ],
  ])("shows a key of %s as armour, with rpm's checksum", async (_, bytes) => {
    const tux = await signedIn();
    const answer = await add(tux, await createAppliance(tux), { body: form({}, await bytes()) });
    const text = await answer.text();
    expect(text).toMatch(
      /<key>-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n([A-Za-z0-9+/]{1,76}={0,2}\n)+=[A-Za-z0-9+/]{4}\n-----END/,
    );
    expect(text).toMatch(/\n-----END PGP PUBLIC KEY BLOCK-----\n<\/key>/);
  });

  it.each([
    ["DSA", dsa],
    ["1024-bit RSA", shortRsa],
  ])("accepts an old key: %s", async (_, armour) => {
    const tux = await signedIn();
    const key = await added(await add(tux, await createAppliance(tux), { body: armour }));
    expect(await fingerprintOf(key.key)).toBe(await fingerprintOf(armour));
  });

  it("accepts an expired key", async () => {
    const tux = await signedIn();
    const date = new Date("2012-03-01");
    const { publicKey } = await generateKey({ userIDs: [{ name: "Old" }], date, keyExpirationTime: 3600 });
    expect((await add(tux, await createAppliance(tux), { body: publicKey })).status).toBe(200);
  });

  it.each<[string, Call, string]>([
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
    ["an SSH key", { body: form({}, bytesOf("ssh-rsa AAAA")) }, "invalid_key"],
    [
      "bytes that are not a key",
      {
        body: form(
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
    await expectError(await add(tux, id, call), 400, code);
    expect(await listGpgKeys(db, id)).toEqual([]);
  });

  it.each<[string, () => Promise<BodyInit> | BodyInit, RegExp]>([
    ["a private key", async () => (await newKey()).armor(), /private key/],
    ["a private key in binary", async () => form({}, (await newKey()).write()), /private key/],
    ["a key that is too large", () => `${tiny}${" ".repeat(2 ** 18)}`, /larger than 256 KiB/],
    ["a body that is too large", () => `${tiny}${" ".repeat(2 ** 20)}`, /larger than 256 KiB/],
    ["several blocks", () => stranger + tiny, /2 blocks/],
    [
      "several keys in one block",
      async () => form({}, Buffer.concat([await binary(tiny), await binary(stranger)])),
      /2 keys/,
    ],
    ["a revoked key", async () => (await revokeKey({ key: await newKey(), format: "armored" })).publicKey, /revoked/],
    ["a key with a forged name", async () => await renamedKey(), /no valid signature by itself/],
  ])("refuses %s with a reason that does not repeat it", async (_, bodyFor, message) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const told = await expectError(await add(tux, id, { body: await bodyFor() }), 400, "invalid_key");
    expect(told).toMatch(message);
    expect(told).not.toContain("BEGIN PGP");
    expect(await listGpgKeys(db, id)).toEqual([]);
  });

  it("recognizes a key in another armour and with another name", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await add(tux, id, { body: tiny });
    const again = await add(tux, id, { query: { ...named, name: "b" }, body: form({}, await binary(tiny)) });
    await expectError(again, 400, "key_already_exists");
    expect((await add(tux, await createAppliance(tux), { body: tiny })).status).toBe(200);
  });

  it("lets one of two simultaneous requests win", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const answers = await Promise.all([1, 2, 3].map(() => add(tux, id, { body: tiny })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await listGpgKeys(db, id)).toHaveLength(1);
  });

  it.each([
    ["the hundred and first key", 100, "x"],
    ["keys of more than four mebibytes in total", 4, "x".repeat(2 ** 20)],
  ])("refuses %s", async (_, count, key) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const numbers = JSON.stringify(Array.from({ length: count }, (_, number) => number));
    await db
      .insert(gpgKeys)
      .select(sql`SELECT NULL, ${id}, 'old', 'rpm', value, ${key}, 0, NULL FROM json_each(${numbers})`);
    expect(await expectError(await add(tux, id, { body: tiny }), 400, "unknown_error")).toContain("at most 100");
    await tux.delete(`/appliances/${id}/gpg_keys/${(await listGpgKeys(db, id))[0]?.id}`);
    expect((await add(tux, id, { body: tiny })).status).toBe(200);
  });

  it("refuses an unknown, foreign or template appliance first", async () => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    const id = await createAppliance(tux);
    await expectError(await add(tux, 999_999, { query: {} }), 404, "invalid_appliance_id");
    await expectError(await add(eve, id, { body: tiny }), 404, "invalid_appliance_id");
    await expectError(await add(tux, 1, { body: tiny }), 403, "access_denied");
  });
});

describe("GET gpg_keys", () => {
  it("lists the keys, and an empty list for a template", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const first = await added(await add(tux, id, { body: tiny }));
    const second = await added(await add(tux, id, { body: stranger }));

    const document = await readXml(await tux.get(`/appliances/${id}/gpg_keys`));
    expect(document).toEqual({ gpg_keys: { "@type": "array", gpg_key: [first, second] } });
    expect(await readXml(await tux.get("/appliances/1/gpg_keys"))).toEqual({ gpg_keys: { "@type": "array" } });
    expect(await added(await tux.on("v1").get(`/appliances/${id}/gpg_keys/${second.id}`))).toEqual(second);
  });

  it("refuses unknown ids and other accounts' ids", async () => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    const [id, other] = [await createAppliance(tux), await createAppliance(tux)];
    const { id: keyId } = await added(await add(tux, id, { body: tiny }));
    await expectError(await tux.get("/appliances/999999/gpg_keys"), 404, "invalid_appliance_id");
    await expectError(await eve.get(`/appliances/${id}/gpg_keys`), 404, "invalid_appliance_id");
    await expectError(await eve.get(`/appliances/${id}/gpg_keys/${keyId}`), 404, "invalid_appliance_id");
    await expectError(await tux.get(`/appliances/${other}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
    await expectError(await tux.get(`/appliances/${id}/gpg_keys/x`), 404, "invalid_gpg_key_id");
    await expectError(await tux.get("/appliances/999999/gpg_keys/x"), 404, "invalid_appliance_id");
    await expectError(await tux.on("v1").get(`/appliances/${id}/gpg_keys/999999`), 400, "invalid_gpg_key_id");
  });
});

describe("DELETE gpg_keys", () => {
  it("deletes a key once", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const { id: keyId } = await added(await add(tux, id, { body: tiny }));

    expect(await readXml(await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`))).toEqual({ success: "" });

    await expectError(await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
    expect((await add(tux, id, { body: tiny })).status).toBe(200);
  });

  it("refuses other accounts' keys, and clones keep theirs", async () => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    const id = await createAppliance(tux);
    const { id: keyId } = await added(await add(tux, id, { body: tiny }));
    const clone = await createAppliance(tux, { clone_from: id });

    await expectError(await eve.delete(`/appliances/${id}/gpg_keys/${keyId}`), 404, "invalid_appliance_id");
    await expectError(await tux.delete(`/appliances/${clone}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
    await expectError(await tux.delete(`/appliances/1/gpg_keys/${keyId}`), 403, "access_denied");
    expect(await listGpgKeys(db, id)).toHaveLength(1);
    await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`);
    expect(await listGpgKeys(db, clone)).toMatchObject([{ fingerprint: tinyFingerprint }]);
  });
});

/** A key whose user id was changed after it was signed. */
async function renamedKey(): Promise<string> {
  const { publicKey } = await reformatKey({ privateKey: await newKey(), userIDs: [{ name: "Eve" }], format: "object" });
  const bytes = Buffer.from(publicKey.write());
  bytes.set(Buffer.from("Bob"), bytes.indexOf("Eve"));
  return (await readKey({ binaryKey: bytes })).armor();
}
