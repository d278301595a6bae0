import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { generateKey, readKey } from "openpgp";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { plainArmour } from "#domain/contents/gpg-key";
import { listGpgKeys } from "#storage/gpg-keys";
import { appliances } from "#storage/schema";
import dsa from "../fixtures/repodata/signed/dsa.key?raw";
import shortRsa from "../fixtures/repodata/signed/short-rsa.key?raw";
import tiny from "../fixtures/repodata/signed/tiny.key?raw";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import {
  addKey,
  binaryOf,
  bytesOf,
  fingerprintOf,
  formType,
  keyForm,
  keyIn,
  named,
  tinyFingerprint,
  type KeyRequest,
} from "../support/gpg-keys.ts";

const db = openDatabase(env);

beforeAll(loadTemplates);

describe("POST gpg_keys", () => {
  it.each<[string, () => Promise<KeyRequest> | KeyRequest]>([
    ["in the query", () => ({ query: { ...named, key: tiny } })],
    ["in the query, with unencoded pluses", () => ({ query: { ...named, key: tiny.replaceAll("+", " ") } })],
    ["in a form", () => ({ query: {}, body: new URLSearchParams({ ...named, key: tiny }) })],
    ["in a field of a multipart form", () => ({ body: keyForm({ key: tiny }) })],
    ["as the file of a multipart form", () => ({ query: {}, body: keyForm(named, bytesOf(tiny)) })],
    ["as a binary file", async () => ({ body: keyForm({}, await binaryOf(tiny)) })],
    ["as the body, declared as a form", () => ({ body: tiny, headers: formType })],
    ["as the body, declared as text", () => ({ body: `\n${tiny}`, headers: { "content-type": "text/plain" } })],
    ["as a binary body, declared as a form", async () => ({ body: (await binaryOf(tiny)).slice(), headers: formType })],
    ["with line breaks of another system", () => ({ body: tiny.replaceAll("\n", "\r\n"), headers: formType })],
    ["with text around it", () => ({ body: keyForm({}, bytesOf(`pub rsa3072\n\n${tiny}\nThe end`)) })],
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

    const key = await keyIn(await addKey(tux, id, await callFor()));

    expect(Object.keys(key)).toEqual(["id", "name", "target", "key"]);
    expect(key).toMatchObject(named);
    expect(await fingerprintOf(key.key)).toBe(tinyFingerprint);
    expect(await listGpgKeys(db, id)).toMatchObject([{ id: Number(key.id), fingerprint: tinyFingerprint }]);
    const edited = await db.query.appliances.findFirst({ where: eq(appliances.id, id) });
    expect(edited?.lastEditedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  const asSent = tiny.replace("\n\n", "\nVersion: GnuPG v2.0.18 (GNU/Linux)\nComment: <R&D>, Wien 🐧\n\n");

  it.each<[string, string, (key: string) => KeyRequest]>([
    ["in the query", asSent, (key) => ({ query: { ...named, key } })],
    [
      "in the query, with line breaks of another system",
      asSent.replaceAll("\n", "\r\n"),
      (key) => ({ query: { ...named, key } }),
    ],
    ["in a form", asSent, (key) => ({ query: {}, body: new URLSearchParams({ ...named, key }) })],
    ["in a field of a multipart form", asSent, (key) => ({ body: keyForm({ key }) })],
    ["as a file", asSent, (key) => ({ body: keyForm({}, bytesOf(key)) })],
    [
      "as a file with line breaks of another system",
      asSent.replaceAll("\n", "\r\n"),
      (key) => ({ body: keyForm({}, bytesOf(key)) }),
    ],
    ["as the body, with text and lines around it", `\npub rsa3072\n${asSent}\n\n`, (key) => ({ body: key })],
    ["without a line break at its end", asSent.trimEnd(), (key) => ({ body: key })],
    ["without a checksum", asSent.replace(/\n=.{4}\n/, "\n"), (key) => ({ body: key })],
  ])("shows armour unchanged %s, and gives builders a clean copy", async (_, key, callFor) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);

    const answer = await addKey(tux, id, callFor(key));

    const written = key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const text = await answer.text();
    expect(text).toContain(`  <key>${written}</key>\n`);
    expect(await (await tux.get(`/appliances/${id}/gpg_keys`)).text()).toContain(`<key>${written}</key>`);
    const [stored] = await listGpgKeys(db, id);
    expect(await plainArmour(stored?.key ?? "")).toBe((await readKey({ armoredKey: tiny })).armor());
  });

  it.each<[string, () => Promise<Uint8Array>]>([
    ["binary", () => binaryOf(tiny)],
    [
      "armour with Latin-1 in it",
      async () => Buffer.from(tiny.replace("\n\n", "\nComment: J\u00fcrgen\n\n"), "latin1"),
    ],
  ])("shows a key of %s as armour, with rpm's checksum", async (_, bytes) => {
    const tux = await signedIn();
    const answer = await addKey(tux, await createAppliance(tux), { body: keyForm({}, await bytes()) });
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
    const key = await keyIn(await addKey(tux, await createAppliance(tux), { body: armour }));
    expect(await fingerprintOf(key.key)).toBe(await fingerprintOf(armour));
  });

  it("accepts an expired key", async () => {
    const tux = await signedIn();
    const date = new Date("2012-03-01");
    const { publicKey } = await generateKey({ userIDs: [{ name: "Old" }], date, keyExpirationTime: 3600 });
    expect((await addKey(tux, await createAppliance(tux), { body: publicKey })).status).toBe(200);
  });
});
