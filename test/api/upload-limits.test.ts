/** What an account may upload, and what of it counts before the upload ends. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { base, listed, pair } from "../support/rpm-uploads.ts";
import { expectRefused, someBytes, tusClient, type TusClient } from "../support/uploads.ts";
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

/** A request to a service with other settings. */
const askWith = (settings: Partial<Env>, method: string, path: string, init: RequestInit) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`);
  const request = new Request(`https://kiln.test/api/v2/user/uploads${path}`, { ...init, method, headers });
  return app.fetch(request, { ...env, ...settings }, createExecutionContext());
};

const beginWith = (settings: Partial<Env>, length: number, query: Record<string, string> = {}) => {
  const purpose = "base_system" in query ? query : { appliance_id: String(applianceId), filename: "a" };
  const headers = { "upload-length": String(length) };
  return askWith(settings, "POST", `?${new URLSearchParams(purpose)}`, { headers });
};

const sendWith = (settings: Partial<Env>, id: string, body: BodyInit) => {
  const headers = { "upload-offset": "0", "content-type": "application/offset+octet-stream" };
  return askWith(settings, "PATCH", `/${id}`, { headers, body });
};

describe("the limits of uploads", () => {
  it("count a declared length towards the quota until the upload ends", async () => {
    const settings = { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) };
    const { upload } = await readXml(await beginWith(settings, 2000));
    expect(await expectRefused(await beginWith(settings, 1001), 400)).toContain("disk quota");
    await tus.end(upload.id);
    expect((await beginWith(settings, 3000)).status).toBe(201);
  });

  it("let an upload finish that fills the quota", async () => {
    const settings = { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) };
    const { upload } = await readXml(await beginWith(settings, 3000));
    expect((await sendWith(settings, upload.id, someBytes(3000))).status).toBe(204);
    const { files } = await readXml(await tux.get(`/files?appliance_id=${applianceId}`));
    expect(files.file).toMatchObject({ size: "3000" });
    expect(await expectRefused(await beginWith(settings, 1), 400)).toContain("disk quota");
  });

  it("refuse an archive whose packages do not fit in addition", async () => {
    const tar = await pair();
    const settings = { ACCOUNT_QUOTA_GB: String((tar.byteLength + 100) / 2 ** 30) };
    const { upload } = await readXml(await beginWith(settings, tar.byteLength, { base_system: base }));
    expect(await expectRefused(await sendWith(settings, upload.id, tar), 400)).toContain("disk quota");
    expect((await tus.head(upload.id)).status).toBe(404);
    expect(await listed(tux)).toEqual([]);
  });

  it("count unfinished uploads, which their account can list", async () => {
    const settings = { MAX_UPLOADS_PER_ACCOUNT: "1" };
    const { upload } = await readXml(await beginWith(settings, 5));
    expect(await expectRefused(await beginWith(settings, 5), 400)).toContain("unfinished");
    expect((await readXml(await tux.get("/uploads"))).uploads.upload).toMatchObject({ id: upload.id, offset: "0" });
    expect((await readXml(await tux.get("/account/limits"))).limits.uploads).toEqual({ used: "1", most: "20" });
    await tus.send(upload.id, 0, "hello");
    expect((await beginWith(settings, 5)).status).toBe(201);
  });
});
