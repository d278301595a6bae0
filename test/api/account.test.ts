import { describe, expect, it } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import { expectError, readXml } from "../support/xml.ts";

describe("GET account", () => {
  it("shows exactly the six children that clients assert", async () => {
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

  it("answers on v1, with a trailing slash and with the scheme in capitals", async () => {
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
  ])("challenges a client with %s", async (_what, authorization) => {
    const answer = await visit("/api/v2/user/account", authorization ? { headers: { authorization } } : {});

    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
    await expectError(answer, 401, "access_denied");
  });
});

describe("GET api_version", () => {
  it.each([
    ["v1", "1.1"],
    ["v2", "2.0"],
  ] as const)("answers %s with %s", async (version, number) => {
    const tux = await signedIn();

    expect(await readXml(await tux.on(version).get("/api_version"))).toEqual({ version: number });
  });
});

describe("any path", () => {
  it("says which method is meant when the one sent is wrong", async () => {
    const tux = await signedIn();

    const answer = await tux.delete("/account");

    expect(answer.headers.get("allow")).toBe("GET");
    await expectError(answer, 400, "wrong_http_method");
  });

  it("answers 404 where there is no call", async () => {
    const tux = await signedIn();

    await expectError(await tux.get("/nonsense"), 404, "unknown_error");
  });

  it("refuses a changing request that says it comes from another site", async () => {
    const tux = await signedIn();
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
    const path = "/api/v2/user/appliances?clone_from=1";

    const bySite = await visit(path, { method: "POST", headers: { authorization, "sec-fetch-site": "cross-site" } });
    const byOrigin = await visit(path, { method: "POST", headers: { authorization, origin: "https://evil.test" } });

    await expectError(bySite, 403, "access_denied");
    await expectError(byOrigin, 403, "access_denied");
  });
});
