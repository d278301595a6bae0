import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { listGpgKeys } from "#storage/gpg-keys";
import { gpgKeys } from "#storage/schema";
import stranger from "../fixtures/repodata/signed/stranger.key?raw";
import tiny from "../fixtures/repodata/signed/tiny.key?raw";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";
import { addKey, binaryOf, keyForm, keyIn, named, tinyFingerprint } from "../support/gpg-keys.ts";

const db = openDatabase(env);

beforeAll(loadTemplates);

describe("POST gpg_keys", () => {
  it("recognizes a key in another armour and with another name", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await addKey(tux, id, { body: tiny });
    const again = await addKey(tux, id, { query: { ...named, name: "b" }, body: keyForm({}, await binaryOf(tiny)) });
    await expectError(again, 400, "key_already_exists");
    expect((await addKey(tux, await createAppliance(tux), { body: tiny })).status).toBe(200);
  });

  it("lets one of two simultaneous requests win", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const answers = await Promise.all([1, 2, 3].map(() => addKey(tux, id, { body: tiny })));
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
    expect(await expectError(await addKey(tux, id, { body: tiny }), 400, "unknown_error")).toContain("at most 100");
    await tux.delete(`/appliances/${id}/gpg_keys/${(await listGpgKeys(db, id))[0]?.id}`);
    expect((await addKey(tux, id, { body: tiny })).status).toBe(200);
  });

  it("refuses an unknown appliance before it reads the parameters", async () => {
    const tux = await signedIn();
    await expectError(await addKey(tux, 999_999, { query: {} }), 404, "invalid_appliance_id");
  });
});

describe("GET gpg_keys", () => {
  it("lists the keys, and an empty list for a template", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const first = await keyIn(await addKey(tux, id, { body: tiny }));
    const second = await keyIn(await addKey(tux, id, { body: stranger }));

    const document = await readXml(await tux.get(`/appliances/${id}/gpg_keys`));
    expect(document).toEqual({ gpg_keys: { "@type": "array", gpg_key: [first, second] } });
    expect(await readXml(await tux.get("/appliances/1/gpg_keys"))).toEqual({ gpg_keys: { "@type": "array" } });
    expect(await keyIn(await tux.on("v1").get(`/appliances/${id}/gpg_keys/${second.id}`))).toEqual(second);
  });

  it("refuses the key of another appliance", async () => {
    const tux = await signedIn();
    const [id, other] = [await createAppliance(tux), await createAppliance(tux)];
    const { id: keyId } = await keyIn(await addKey(tux, id, { body: tiny }));
    await expectError(await tux.get(`/appliances/${other}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
  });
});

describe("DELETE gpg_keys", () => {
  it("deletes a key once", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const { id: keyId } = await keyIn(await addKey(tux, id, { body: tiny }));

    expect(await readXml(await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`))).toEqual({ success: "" });

    await expectError(await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
    expect((await addKey(tux, id, { body: tiny })).status).toBe(200);
  });

  it("refuses the key of another appliance, and clones keep theirs", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const { id: keyId } = await keyIn(await addKey(tux, id, { body: tiny }));
    const clone = await createAppliance(tux, { clone_from: id });

    await expectError(await tux.delete(`/appliances/${clone}/gpg_keys/${keyId}`), 404, "invalid_gpg_key_id");
    await expectError(await tux.delete(`/appliances/1/gpg_keys/${keyId}`), 403, "access_denied");
    expect(await listGpgKeys(db, id)).toHaveLength(1);
    await tux.delete(`/appliances/${id}/gpg_keys/${keyId}`);
    expect(await listGpgKeys(db, clone)).toMatchObject([{ fingerprint: tinyFingerprint }]);
  });
});
