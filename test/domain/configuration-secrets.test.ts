import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { examine } from "#domain/appliances/status";
import { freezeInput } from "#domain/builds/frozen-input";
import { forOtherAccount, decrypted, encrypted, encryptedIfClear } from "#domain/configuration/secrets";
import { configurationOf, type Configuration } from "#lib/configuration/stored";
import { findTemplateConfiguration } from "#storage/configurations";
import { appliances } from "#storage/schema";
import { signedIn } from "../support/client.ts";
import { db, fullDocument, putPortion, rowOf } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";

const tux = await signedIn();

const passwords = ({ users, databases }: Configuration) => [
  ...users.map(({ password }) => password),
  ...databases.flatMap((database) => database.users.map(({ password }) => password)),
];

/** A stored configuration with two users and a database user. */
async function storedFull(): Promise<{ id: number; stored: Configuration }> {
  const id = await createAppliance(tux);
  await tux.put(`/appliances/${id}/configuration`, fullDocument(id));
  return { id, stored: configurationOf(await rowOf(id)) };
}

describe("encrypted", () => {
  it("keeps the ciphertext of unchanged passwords only", async () => {
    const { stored } = await storedFull();
    const clear = await decrypted(env, stored);
    const [root, guide] = clear.users;
    if (!root || !guide) throw new Error("no users");

    const same = await encrypted(env, clear, stored);
    const swapped = await encrypted(env, { ...clear, users: [{ ...root, password: guide.password }, guide] }, stored);

    expect(same).toEqual(stored);
    expect(passwords(swapped)[0]).not.toBe(passwords(stored)[1]);
    expect(passwords(swapped).slice(1)).toEqual(passwords(stored).slice(1));
    expect(passwords(await decrypted(env, swapped))[0]).toBe(guide.password);
  });

  it("accepts plain passwords of older rows, and encrypts them when they change", async () => {
    const id = await createAppliance(tux);
    const row = await rowOf(id);
    const clear = await decrypted(env, row.configuration);
    await db.update(appliances).set({ configuration: clear }).where(eq(appliances.id, id));

    expect(await decrypted(env, configurationOf(await rowOf(id)))).toEqual(clear);
    await putPortion(tux, id, "<website/>");

    const [password] = passwords(configurationOf(await rowOf(id)));
    expect(password).toMatch(/^sealed:/);
    expect(passwords(await encryptedIfClear(env, clear))[0]).toMatch(/^sealed:/);
  });
});

describe("forOtherAccount", () => {
  it("uses template passwords for users and new ones for databases", async () => {
    const { id, stored } = await storedFull();
    const template = await findTemplateConfiguration(db, id);

    const [one, another] = [await forOtherAccount(env, stored, template), await forOtherAccount(env, stored, template)];

    const [root, guide, database] = passwords(await decrypted(env, one));
    expect([root, guide]).toEqual(["linux", "linux"]);
    expect(database).toMatch(/^[A-Za-z0-9]{16}$/);
    expect(passwords(await decrypted(env, another))[2]).not.toBe(database);
    for (const password of passwords(one)) expect(password).toMatch(/^sealed:/);
    expect({ ...one, users: [], databases: [] }).toEqual({ ...stored, users: [], databases: [] });
  });

  it("leaves builds and the reading of uploads to the new owner", async () => {
    const { stored } = await storedFull();
    const settings = {
      ...stored.settings,
      automaticBuilds: "all" as const,
      automaticBuildsAt: "02:00-05:00",
      updateUploads: true,
    };

    const clone = await forOtherAccount(env, { ...stored, settings }, undefined);

    expect(clone.settings).toMatchObject({ automaticBuilds: "never", automaticBuildsAt: "", updateUploads: false });
  });

  it("makes new passwords if the template no longer exists", async () => {
    const { stored } = await storedFull();

    const [root, guide, database] = passwords(await decrypted(env, await forOtherAccount(env, stored, undefined)));

    expect(new Set([root, guide, database]).size).toBe(3);
    expect(root).toMatch(/^[A-Za-z0-9]{16}$/);
  });
});

describe("findTemplateConfiguration", () => {
  it("follows clones to their template, unless one of them was deleted", async () => {
    const first = await createAppliance(tux);
    const second = await createAppliance(tux, { clone_from: first });
    const third = await createAppliance(tux, { clone_from: second });

    expect(await findTemplateConfiguration(db, third)).toEqual((await rowOf(1)).configuration);
    await tux.delete(`/appliances/${second}`);
    expect(await findTemplateConfiguration(db, third)).toBeUndefined();
  });
});

describe("a frozen input", () => {
  it("contains hashes of the passwords", async () => {
    const id = await createAppliance(tux);

    const appliance = await rowOf(id);
    const examined = await examine({ env, db }, appliance, { imageType: "oem", abilities: [] });
    const input = await freezeInput({ env, db }, appliance, { ...examined, version: "0.0.1", imageType: "oem" });

    const [, hash = ""] = /password="(\$6\$[^"]+)"/.exec(input.description["config.xml"] ?? "") ?? [];
    const { verify } = await import("unixcrypt");
    expect(verify("linux", hash)).toBe(true);
  });
});
