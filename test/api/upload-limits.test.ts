/** The limits of an account's uploads, and the bytes that count before an upload is complete. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { base, listed, pair } from "../support/rpm-uploads.ts";
import { expectRefused, someBytes, tusClient, uploadsWith, type TusClient } from "../support/uploads.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

let tux: Client;
let tus: TusClient;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  tus = tusClient(tux);
  applianceId = await createAppliance(tux);
});

/** Uploads of files to the appliance, in a service with other settings. */
function filesWith(settings: Partial<Env>) {
  const { begin, send } = uploadsWith(settings, tux);
  return { begin: (length: number) => begin({ appliance_id: String(applianceId), filename: "a" }, length), send };
}

describe("the limits of uploads", () => {
  it("count a declared length towards the quota until the upload ends", async () => {
    const files = filesWith({ ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) });
    const { upload } = await readXml(await files.begin(2000));
    expect(await expectRefused(await files.begin(1001), 400)).toContain("disk quota");
    await tus.end(upload.id);
    expect((await files.begin(3000)).status).toBe(201);
  });

  it("let an upload finish that fills the quota", async () => {
    const files = filesWith({ ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) });
    const { upload } = await readXml(await files.begin(3000));
    expect((await files.send(upload.id, someBytes(3000))).status).toBe(204);
    const answer = await readXml(await tux.get(`/files?appliance_id=${applianceId}`));
    expect(answer.files.file).toMatchObject({ size: "3000" });
    expect(await expectRefused(await files.begin(1), 400)).toContain("disk quota");
  });

  it("refuse an archive whose packages do not fit in addition", async () => {
    const tar = await pair();
    const packages = uploadsWith({ ACCOUNT_QUOTA_GB: String((tar.byteLength + 100) / 2 ** 30) }, tux);
    const { upload } = await readXml(await packages.begin({ base_system: base }, tar.byteLength));
    expect(await expectRefused(await packages.send(upload.id, tar), 400)).toContain("disk quota");
    expect((await tus.head(upload.id)).status).toBe(404);
    expect(await listed(tux)).toEqual([]);
  });

  it("count unfinished uploads, which their account can list", async () => {
    const files = filesWith({ MAX_UPLOADS_PER_ACCOUNT: "1" });
    const { upload } = await readXml(await files.begin(5));
    expect(await expectRefused(await files.begin(5), 400)).toContain("unfinished");
    expect((await readXml(await tux.get("/uploads"))).uploads.upload).toMatchObject({ id: upload.id, offset: "0" });
    expect((await readXml(await tux.get("/account/limits"))).limits.uploads).toEqual({ used: "1", most: "20" });
    await tus.send(upload.id, 0, "hello");
    expect((await files.begin(5)).status).toBe(201);
  });
});
