import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { cloneAppliance } from "#domain/appliances/appliance";
import { findAccount } from "#storage/accounts";
import { limitsOf } from "#domain/accounts/limits";
import { deleteApplianceRows, findAppliance, saveClone } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { applianceRepositories, appliances, gpgKeys, overlayFiles, selections, shares } from "#storage/schema";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { readXml } from "../support/xml.ts";
import tiny from "../../templates/tiny.json";

const db = openDatabase(env);
/** The tables of an appliance that are copied with it. */
const copied = [applianceRepositories, selections, overlayFiles, gpgKeys];

let tux: Client;
beforeEach(async () => void (tux = await signedIn()));

const clone = async (source: number, params = {}): Promise<number> =>
  Number(
    (await readXml(await tux.post("/appliances", { clone_from: source, arch: "x86_64", ...params }))).appliance.id,
  );

async function getAppliance(id: number) {
  const found = await findAppliance(db, tux.accountId, id);
  if (!found) throw new Error(`no appliance ${id}`);
  return found;
}

/** The rows of an appliance in one of these tables, without the columns that differ between copies. */
async function rowsOf(table: (typeof copied)[number], applianceId: number) {
  const rows = await db
    .select()
    .from(table)
    .where(eq(table.applianceId, applianceId))
    .orderBy(sql`rowid`);
  return rows.map((row) => ({ ...row, id: 0, applianceId: 0 }));
}

const nameOf = async (id: number) => (await getAppliance(id)).name;

/** Gives an appliance one row in each of these tables. */
async function addOneOfEverything(applianceId: number): Promise<void> {
  const createdAt = new Date(1_330_000_000_000);
  await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello", version: "1.0" });
  await tux.post(`/appliances/${applianceId}/cmd/ban_package`, { name: "webdemo" });
  const file = {
    applianceId,
    path: "/etc",
    owner: "root",
    permissions: 0o640,
    enabled: false,
    size: 5,
    md5: "m",
    createdAt,
  };
  await db.insert(overlayFiles).values([
    { ...file, fileName: "issue", group: "wheel", sha256: "s", blobId: "blob-1" },
    { ...file, fileName: "motd", group: "root", sha256: "t", blobId: "blob-2", enabled: true },
  ]);
  const key = { applianceId, target: "rpm" as const, key: "-----BEGIN", createdAt };
  await db.insert(gpgKeys).values([
    { ...key, name: "first", fingerprint: "aa" },
    { ...key, name: "second", fingerprint: "bb" },
  ]);
  const { configuration } = await getAppliance(applianceId);
  await db
    .update(appliances)
    .set({
      logoBlob: "logo-1",
      backgroundBlob: "background-1",
      configuration: { ...configuration, description: "A kiosk", tags: ["kiosk"] },
    })
    .where(eq(appliances.id, applianceId));
}

describe("a clone", () => {
  it("has everything that its source has", async () => {
    const source = await createAppliance(tux);
    await addOneOfEverything(source);
    // The source's estimate is computed when it is shown, the clone's when it is made.
    await tux.get(`/appliances/${source}`);

    const copy = await clone(source);

    for (const table of copied) {
      const rows = await rowsOf(table, source);
      expect(rows.length).toBeGreaterThan(1);
      expect(await rowsOf(table, copy)).toEqual(rows);
    }
    const original = await getAppliance(source);
    const { id, uuid, name, createdAt, lastEditedAt } = await getAppliance(copy);
    const own = { id, uuid, name, createdAt, lastEditedAt, parentId: source, parentName: original.name };
    expect(await getAppliance(copy)).toEqual({ ...original, ...own });
    expect(original).toMatchObject({ logoBlob: "logo-1", backgroundBlob: "background-1" });
    expect(uuid).not.toBe(original.uuid);
  });

  it("has no builds, versions or readers", async () => {
    const { applianceId } = await createBuild(tux);
    const friend = await signedIn();
    await db.insert(shares).values({ applianceId, accountId: friend.accountId, createdAt: new Date() });
    expect((await getAppliance(applianceId)).version).toBe("0.0.2");

    const copy = await clone(applianceId);

    const { appliance } = await readXml(await tux.get(`/appliances/${copy}`));
    expect(appliance.builds).toEqual({ "@type": "array" });
    expect((await getAppliance(copy)).version).toBe("0.0.1");
    expect(await db.select().from(shares).where(eq(shares.applianceId, copy))).toEqual([]);
  });

  it("is independent of its source", async () => {
    const source = await createAppliance(tux);
    await addOneOfEverything(source);
    const copy = await clone(source);

    expect((await tux.delete(`/appliances/${source}`)).status).toBe(200);

    expect(await rowsOf(overlayFiles, copy)).toMatchObject([{ blobId: "blob-1" }, { blobId: "blob-2" }]);
    expect((await readXml(await tux.get(`/appliances/${copy}`))).appliance.parent).toEqual({
      id: String(source),
      name: "Kiosk",
    });
  });

  it("is not stored if its source is deleted meanwhile", async () => {
    const source = await createAppliance(tux);
    await addOneOfEverything(source);
    const { id, ...row } = await getAppliance(source);
    await deleteApplianceRows(db, source);
    const uuid = crypto.randomUUID();

    expect(
      await saveClone(db, { ...row, uuid, parentId: id }, { sourceId: source, most: limitsOf(env) }),
    ).toBeUndefined();

    expect(await db.select().from(appliances).where(eq(appliances.uuid, uuid))).toEqual([]);
    for (const table of copied) expect(await db.select().from(table).where(eq(table.applianceId, source))).toEqual([]);
  });

  it("is complete or refused if its source is deleted simultaneously", async () => {
    for (let round = 0; round < 5; round += 1) {
      const source = await createAppliance(tux);
      await addOneOfEverything(source);
      const files = await rowsOf(overlayFiles, source);

      const [answer] = await Promise.all([
        tux.post("/appliances", { clone_from: source, arch: "x86_64" }),
        tux.delete(`/appliances/${source}`),
      ]);

      const { appliance, error } = await readXml(answer);
      if (error) expect(error.code).toBe("invalid_appliance_id");
      else expect(await rowsOf(overlayFiles, Number(appliance.id))).toEqual(files);
    }
  });
});

describe("a generated name", () => {
  it("starts with the owner's name, once, and may occur twice", async () => {
    const first = await clone(1);
    const [again, ofClone] = [await clone(1), await clone(first)];

    const name = `${tux.username}'s ${tiny.sets[0]?.templates[0]?.name}`;
    expect([await nameOf(first), await nameOf(again), await nameOf(ofClone)]).toEqual([name, name, name]);
    expect((await readXml(await tux.get(`/appliances/${ofClone}`))).appliance.parent).toEqual({
      id: String(first),
      name,
    });
  });

  it("fits the maximum length and ends in a whole character", async () => {
    const source = await clone(1, { name: "💿".repeat(127) });
    const account = await findAccount(db, tux.username);
    if (!account) throw new Error("no account");

    const lengths = await Promise.all(
      ["A", "Al"].map(async (displayName) => {
        const { name } = await cloneAppliance(
          { env, db },
          { ...account, displayName },
          { cloneFrom: source, arch: "x86_64" },
        );
        expect(name.isWellFormed()).toBe(true);
        return name.length;
      }),
    );

    expect(lengths).toEqual([254, 255].toSorted());
  });
});
