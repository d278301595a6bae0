/** An account's individual disk quota, which the operator sets. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { fileForm, send, uploadFile } from "../support/files.ts";
import { form, send as sendRpm } from "../support/rpm-uploads.ts";
import { rpmOf } from "../support/packages.ts";
import { tusClient } from "../support/uploads.ts";
import { pngOf, rowOf } from "../picture/png-maker.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

const give = (gb: unknown, name = tux.username) => operate("PUT", `/accounts/${name}/quota`, { gb });
const bytes = (count: number) => count / 2 ** 30;
const availableTo = async (client: Client) =>
  (await readXml(await client.get("/account"))).account.disk_quota.available;
const diskLimit = async () => (await readXml(await tux.get("/account/limits"))).limits.disk_bytes;
const logo = pngOf(64, 32, { row: rowOf(64, [255, 0, 0, 255]) });

const additions: Record<string, () => Promise<Response>> = {
  "an overlay file": () => send(tux, fileForm(new Uint8Array(10)), { path: `/files?appliance_id=${applianceId}` }),
  "a package": () => sendRpm(tux, form(rpmOf("hello"))),
  "a picture": () => send(tux, logo.slice(), { method: "PUT", path: `/appliances/${applianceId}/configuration/logo` }),
  "a resumable upload": () => tusClient(tux).begin({ appliance_id: applianceId, filename: "a" }, 10),
  "a build": () => tux.post("/running_builds", { appliance_id: applianceId, image_type: "oem" }),
};

describe("an account's own quota", () => {
  it("is shown to the account and the operator, and leaves other accounts alone", async () => {
    const eve = await signedIn();
    expect(await (await give(50)).json()).toEqual({ quotaGb: 50, hasOwnQuota: true });

    expect([await availableTo(tux), await availableTo(eve)]).toEqual(["50GB", "20GB"]);
    expect(await diskLimit()).toEqual({ used: "0", most: String(50 * 2 ** 30) });
    const { accounts } = await (await operate("GET", "/accounts")).json<{ accounts: { username: string }[] }>();
    const shown = (name: string) => accounts.find(({ username }) => username === name);
    expect(shown(tux.username)).toMatchObject({ quotaGb: 50, hasOwnQuota: true });
    expect(shown(eve.username)).toMatchObject({ quotaGb: 20, hasOwnQuota: false });
  });

  it("ends with null", async () => {
    await give(50);
    expect(await (await give(null)).json()).toEqual({ quotaGb: 20, hasOwnQuota: false });
    expect(await availableTo(tux)).toBe("20GB");
    expect(await (await operate("GET", `/accounts/${tux.username}/quota`)).json()).toMatchObject({ quotaGb: 20 });
  });

  it.each(Object.keys(additions))("refuses %s that does not fit, and takes it when it fits", async (what) => {
    const add = async () => (await additions[what]?.()) ?? new Response();
    await give(0);
    expect(await expectError(await add(), 400, "unknown_error")).toMatch(/quota/);
    await give(null);
    expect((await add()).status).toBeLessThan(300);
  });

  it("leaves what is stored already", async () => {
    const file = await uploadFile(tux, applianceId, new Uint8Array(100));
    await give(bytes(50));
    expect((await tux.get(`/files/${file.id}`)).status).toBe(200);
    expect(await diskLimit()).toEqual({ used: "100", most: "50" });
  });

  it.each([-1, 1e7, "50", undefined])("refuses %j", async (gb) => {
    expect((await give(gb)).status).toBe(400);
    expect(await availableTo(tux)).toBe("20GB");
  });

  it("refuses an account that does not exist", async () => {
    expect((await give(1, "no-such-account")).status).toBe(400);
  });
});
