import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { renewApiKey } from "#domain/accounts/account";
import { findAccount } from "#storage/accounts";
import { openDatabase } from "#storage/db";
import { builds } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const cloned = async (tux: Client): Promise<number> =>
  Number((await readXml(await tux.post("/appliances", { clone_from: 1, arch: "x86_64" }))).appliance.id);

async function built(tux: Client, applianceId: number, change: Partial<typeof builds.$inferInsert>): Promise<void> {
  await openDatabase(env)
    .insert(builds)
    .values({
      accountId: tux.accountId,
      applianceId,
      version: "0.0.1",
      imageType: "oem",
      status: "finished",
      inputSha256: "0",
      downloadToken: crypto.randomUUID(),
      fileName: "image.tar.gz",
      fileSize: 5 * 2 ** 20,
      rawSize: 90 * 2 ** 20,
      compressed: true,
      createdAt: new Date(),
      ...change,
    });
}

const versionsOf = ({ builds }: { builds: { build?: { version: string } | { version: string }[] } }): string[] =>
  [builds.build ?? []].flat().map(({ version }) => version);

describe("GET appliances", () => {
  it("lists each appliance once, by id, with its builds, newest first", async () => {
    const tux = await signedIn();
    const ids = [await cloned(tux), await cloned(tux), await cloned(tux)];
    const [first = 0, , last = 0] = ids;
    await built(tux, last, { version: "0.0.1" });
    await built(tux, first, { version: "0.0.7" });
    await built(tux, last, { version: "0.0.2" });

    const { appliances } = await readXml(await tux.get("/appliances"));

    expect(appliances.appliance.map(({ id }: { id: string }) => Number(id))).toEqual(ids);
    expect(appliances.appliance.map(versionsOf)).toEqual([["0.0.7"], [], ["0.0.2", "0.0.1"]]);
    expect(appliances.appliance[0].builds.build).toMatchObject({ image_size: "90", compressed_image_size: "5" });
  });

  it("shows no running, failed, replaced or expired builds", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await built(tux, id, { version: "0.0.1", status: "running" });
    await built(tux, id, { version: "0.0.2", status: "failed" });
    await built(tux, id, { version: "0.0.3", retiredAt: new Date() });
    await built(tux, id, { version: "0.0.4", expiredAt: new Date() });

    const { appliances } = await readXml(await tux.get("/appliances"));

    expect(appliances.appliance.id).toBe(String(id));
    expect(versionsOf(appliances.appliance)).toEqual([]);
  });

  it("returns an empty list for an account without appliances", async () => {
    expect(await readXml(await (await signedIn()).get("/appliances"))).toEqual({ appliances: { "@type": "array" } });
  });

  it.each(["GET", "HEAD"])("requires the name and key of one account for %s", async (method) => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    await cloned(tux);
    const wrong = [undefined, `${tux.username}:wrong`, `${tux.username}:${eve.apiKey}`, `nobody:${tux.apiKey}`, "tux"];
    for (const credentials of wrong) {
      const headers = credentials === undefined ? {} : { authorization: `Basic ${btoa(credentials)}` };
      const answer = await visit("/api/v2/user/appliances", { method, headers });
      expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
      if (method === "GET") await expectError(answer, 401, "access_denied");
      else expect(answer.status).toBe(401);
    }
  });

  it("refuses a renewed key immediately", async () => {
    const tux = await signedIn();
    const db = openDatabase(env);
    const account = await findAccount(db, tux.username);
    if (!account) throw new Error("no account");
    expect((await tux.get("/appliances")).status).toBe(200);

    await renewApiKey({ env, db }, account);

    await expectError(await tux.get("/appliances"), 401, "access_denied");
  });
});
