import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { builds, overlayFiles, rpms } from "#storage/schema";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

describe("GET account", () => {
  it("has exactly the six children that clients expect", async () => {
    const tux = await signedIn();

    const { account } = await readXml(await tux.get("/account"));

    expect(Object.keys(account)).toEqual([
      "username",
      "displayname",
      "email",
      "created_at",
      "openid_urls",
      "disk_quota",
    ]);
    expect(account).toMatchObject({ username: tux.username, disk_quota: { available: "20GB", used: "0%" } });
    expect(account.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  });

  it("works on v1, with a trailing slash, and with an upper-case scheme", async () => {
    const tux = await signedIn();
    const authorization = `BASIC ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await visit("/api/v1/user/account/", { headers: { authorization } });

    expect(answer.status).toBe(200);
  });

  it.each([
    ["no credentials", undefined],
    ["a wrong key", `Basic ${btoa("tux:wrong")}`],
    ["another scheme", "Bearer abc"],
    ["broken base64", "Basic %%%"],
    ["no colon", `Basic ${btoa("tux")}`],
  ])("asks a client with %s for credentials", async (_what, authorization) => {
    const answer = await visit("/api/v2/user/account", authorization ? { headers: { authorization } } : {});

    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
    await expectError(answer, 401, "access_denied");
  });
});

const gib = 1024 ** 3;
let kept = 0;

/** Stores a finished build of this size. */
const storeBuild = ({ accountId }: Client, fileSize: number, change: Partial<typeof builds.$inferInsert> = {}) =>
  openDatabase(env)
    .insert(builds)
    .values({
      accountId,
      // An appliance cannot have two finished builds of the same version.
      applianceId: 900_000 + (kept += 1),
      version: "0.0.1",
      imageType: "oem",
      status: "finished",
      inputSha256: "0",
      downloadToken: crypto.randomUUID(),
      fileSize,
      createdAt: new Date(),
      ...change,
    });

const storeRpm = ({ accountId }: Client, storedBytes: number) =>
  openDatabase(env).insert(rpms).values({
    accountId,
    baseSystem: "tiny-1.0",
    fileName: "hello-1.0-1.noarch.rpm",
    size: storedBytes,
    md5: "0",
    sha256: "0",
    blobId: crypto.randomUUID(),
    storedBytes,
    packages: [],
    uploadedAt: new Date(),
  });

const storeFile = (applianceId: number, size: number) =>
  openDatabase(env).insert(overlayFiles).values({
    applianceId,
    fileName: "large",
    path: "/srv",
    owner: "root",
    group: "root",
    permissions: 0o644,
    enabled: true,
    size,
    md5: "0",
    sha256: "0",
    blobId: crypto.randomUUID(),
    createdAt: new Date(),
  });

const quotaOf = async (tux: Client) => (await readXml(await tux.get("/account"))).account.disk_quota;

describe("the disk quota", () => {
  it("counts this account's images, uploads and overlay files only", async () => {
    const [tux, eve] = [await signedIn(), await signedIn()];
    await storeBuild(tux, 2 * gib);
    await storeRpm(tux, gib);
    await storeFile(await createAppliance(tux), gib);
    await storeBuild(eve, 8 * gib);

    expect(await quotaOf(tux)).toEqual({ available: "20GB", used: "20%" });
    expect(await quotaOf(eve)).toEqual({ available: "20GB", used: "40%" });
  });

  it("does not count an image that a forced build replaced", async () => {
    const tux = await signedIn();
    await storeBuild(tux, 5 * gib, { retiredAt: new Date() });

    expect(await quotaOf(tux)).toMatchObject({ used: "0%" });
  });

  it("reports usage above the quota", async () => {
    const tux = await signedIn();
    await storeBuild(tux, 30 * gib);

    expect(await quotaOf(tux)).toEqual({ available: "20GB", used: "150%" });
  });
});

describe("GET api_version", () => {
  it.each([
    ["v1", "1.1"],
    ["v2", "2.0"],
  ] as const)("returns for %s: %s", async (version, number) => {
    const tux = await signedIn();

    expect(await readXml(await tux.on(version).get("/api_version"))).toEqual({ version: number });
  });
});

describe("any path", () => {
  it("names the right method if the method is wrong", async () => {
    const tux = await signedIn();

    const answer = await tux.post("/account/limits");

    expect(answer.headers.get("allow")).toBe("GET");
    await expectError(answer, 400, "wrong_http_method");
  });

  it("answers 404 for an unknown call", async () => {
    const tux = await signedIn();

    await expectError(await tux.get("/nonsense"), 404, "unknown_error");
  });

  it("refuses a changing request from another site", async () => {
    const tux = await signedIn();
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
    const path = "/api/v2/user/appliances?clone_from=1";

    const bySite = await visit(path, { method: "POST", headers: { authorization, "sec-fetch-site": "cross-site" } });
    const byOrigin = await visit(path, { method: "POST", headers: { authorization, origin: "https://evil.test" } });

    await expectError(bySite, 403, "access_denied");
    await expectError(byOrigin, 403, "access_denied");
  });
});
