import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, withKey } from "../support/client.ts";
import { listen } from "../support/events.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { runningDrive } from "../support/testdrives.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);
afterEach(() => void vi.useRealTimers());

const rowOf = (id: string) => env.DB.prepare("SELECT * FROM tokens WHERE id = ?").bind(id).first();

describe("a token", () => {
  it("shows its secret once, and only its hash is stored", async () => {
    const tux = await signedIn();

    const answer = await tux.post("/tokens", { name: "nightly", scope: "build", expires_at: "2099-01-01T00:00:00Z" });

    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { token } = await readXml(answer);
    expect(token).toMatchObject({ name: "nightly", scope: "build", expires_at: "2099-01-01 00:00:00 UTC" });
    expect(token.secret).toMatch(/^kiln_[\w-]{32}$/);
    const { secret, ...rest } = token;
    const { tokens } = await readXml(await tux.get("/tokens"));
    expect(tokens.token).toEqual(rest);
    expect(JSON.stringify(await rowOf(token.id))).not.toContain(secret);
    const { results } = await env.DB.prepare("SELECT * FROM idempotent_answers").all();
    expect(JSON.stringify(results)).not.toContain(secret);
  });

  it("gives access to its own account only, on both versions", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const { client, secret } = await tokenOf(tux);

    for (const version of ["v1", "v2"] as const) {
      expect((await client.on(version).get("/account")).status).toBe(200);
      expect((await client.on(version).get("/appliances")).status).toBe(200);
      await expectError(await withKey(gnu, secret).on(version).get("/account"), 401, "access_denied");
      await expectError(await withKey(gnu, secret).on(version).get("/appliances"), 401, "access_denied");
    }
  });

  it("is refused with the name of the missing scope", async () => {
    const { client } = await tokenOf(await signedIn());

    const message = await expectError(await client.post("/appliances", { clone_from: 1 }), 403, "access_denied");

    expect(message).toContain("scope build");
  });

  it("is checked for HEAD as for GET", async () => {
    const tux = await signedIn();
    const [own, other] = [await createAppliance(tux), await createAppliance(tux)];
    const { secret } = await tokenOf(tux, { appliance_id: own });
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${secret}`)}` };
    const head = async (path: string) => (await visit(`/api/v2/user${path}`, { method: "HEAD", headers })).status;

    expect(await head(`/appliances/${own}/`)).toBe(200);
    const escaped = [...String(other)].map((digit) => `%3${digit}`).join("");
    for (const path of [`/appliances/${other}`, `/appliances/${escaped}`, "/tokens", "/webhooks"]) {
      expect([path, await head(path)]).toEqual([path, 403]);
    }
  });

  it("does not open the API key's page", async () => {
    const tux = await signedIn();
    const { secret } = await tokenOf(tux, { scope: "publish" });
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${secret}`)}` };

    expect((await visit("/user/show_api_key", { headers })).status).toBe(401);
  });

  it("stops working when it is revoked, and ends event streams", async () => {
    const tux = await signedIn();
    const { id, client } = await tokenOf(tux);
    const listener = await listen(client);

    expect((await tux.delete(`/tokens/${id}`)).status).toBe(200);

    while ((await listener.block()) !== undefined);
    await expectError(await client.get("/account"), 401, "access_denied");
    await expectError(await client.get("/appliances"), 401, "access_denied");
    await expectError(await tux.delete(`/tokens/${id}`), 404, "unknown_error");
  });

  it("stops working when it expires", async () => {
    const tux = await signedIn();
    const soon = new Date(Date.now() + 60_000).toISOString();
    const { client } = await tokenOf(tux, { expires_at: soon });
    expect((await client.get("/account")).status).toBe(200);

    vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });

    await expectError(await client.get("/account"), 401, "access_denied");
    await expectError(await client.get("/appliances"), 401, "access_denied");
  });

  it("records its last use once a minute", async () => {
    const tux = await signedIn();
    const { id, client } = await tokenOf(tux);
    expect(await rowOf(id)).toMatchObject({ last_used_at: null });
    const start = Date.now();
    const useAfter = async (ms: number) => {
      vi.useFakeTimers({ now: start + ms, toFake: ["Date"] });
      await client.get("/account");
      return (await rowOf(id))?.["last_used_at"];
    };

    expect(await useAfter(0)).toBe(start);
    expect(await useAfter(59_000)).toBe(start);
    expect(await useAfter(60_001)).toBe(start + 60_001);
  });

  it("is limited in number per account", async () => {
    const tux = await signedIn();
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` };
    const post = () =>
      app.fetch(new Request("https://kiln.test/api/v2/user/tokens?name=a&scope=read", { method: "POST", headers }), {
        ...env,
        MAX_TOKENS_PER_ACCOUNT: "1",
      });
    const answers = await Promise.all([post(), post(), post()]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await expectError(await post(), 400, "unknown_error")).toMatch(/at most 1 tokens/);
    expect((await readXml(await tux.get("/account/limits"))).limits.tokens).toEqual({ used: "1", most: "50" });
  });

  it("can be listed and revoked by the operator", async () => {
    const tux = await signedIn();
    const { id, client, secret } = await tokenOf(tux, { scope: "build" });

    const listed = await (await operate("GET", `/accounts/${tux.username}/tokens`)).json();

    expect(listed).toEqual({ tokens: [expect.objectContaining({ id: Number(id), name: "one", scope: "build" })] });
    expect(JSON.stringify(listed)).not.toMatch(`${secret}|hmac`);
    expect((await operate("DELETE", `/tokens/${id}`)).status).toBe(200);
    await expectError(await client.get("/account"), 401, "access_denied");
    for (const none of [id, "x"]) expect((await operate("DELETE", `/tokens/${none}`)).status).toBe(400);
  });

  it("is visible only to its owner", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    const { id, client } = await tokenOf(tux);

    await expectError(await gnu.delete(`/tokens/${id}`), 404, "unknown_error");

    expect((await client.get("/account")).status).toBe(200);
  });
});

describe("a token for one appliance", () => {
  it("lists only that appliance and its testdrives", async () => {
    const tux = await signedIn();
    const [one, other] = [await runningDrive(tux), await createBuild(tux)];
    const { applianceId } = await applianceOfDrive(one.id);
    const ofOne = (await tokenOf(tux, { appliance_id: applianceId })).client;
    const ofOther = (await tokenOf(tux, { appliance_id: other.applianceId })).client;

    for (const [client, id] of [
      [ofOne, applianceId],
      [ofOther, other.applianceId],
    ] as const) {
      expect((await readXml(await client.get("/appliances"))).appliances.appliance.id).toBe(String(id));
    }
    expect((await readXml(await ofOne.get("/testdrives"))).testdrives.testdrive.id).toBe(String(one.id));
    expect((await readXml(await ofOther.get("/testdrives"))).testdrives.testdrive).toBeUndefined();
  });

  const ways: [string, (own: number, other: number) => [string, RequestInit]][] = [
    ["in the query", (_, other) => [`?appliance_id=${other}`, {}]],
    ["twice in the query", (own, other) => [`?appliance_id=${own}&appliance_id=${other}`, {}]],
    ["as a list", (own, other) => [`?appliance_id[]=${other}&appliance_id=${own}`, {}]],
    ["in a form", (_, other) => ["", form(`appliance_id=${other}`)]],
    ["in the form, next to the query", (own, other) => [`?appliance_id=${own}`, form(`appliance_id=${other}`)]],
    ["in JSON", (_, other) => ["", { body: JSON.stringify({ appliance_id: other }), headers: json }]],
    ["in a large form", (_, other) => ["", form(`appliance_id=${other}&x=${"x".repeat(300_000)}`)]],
    [
      "in a large form, hidden behind a list",
      (own, other) => [`?appliance_id[]=${own}`, form(`appliance_id=${other}&x=${"x".repeat(300_000)}`)],
    ],
    ["nowhere", () => ["", {}]],
  ];

  it.each(ways)("is refused if another appliance is named %s", async (_, way) => {
    const tux = await signedIn();
    const [own, other] = [await createAppliance(tux), await createAppliance(tux)];
    const { secret } = await tokenOf(tux, { scope: "publish", appliance_id: own });
    const [query, { headers = {}, ...init }] = way(own, other);
    const authorization = `Basic ${btoa(`${tux.username}:${secret}`)}`;

    for (const path of ["/running_builds", "/files"]) {
      const request = { method: "POST", ...init, headers: { ...headers, authorization } };
      await expectError(await visit(`/api/v2/user${path}${query}`, request), 403, "access_denied");
    }
  });

  it.each([
    ["?appliance_id=", ""],
    ["", "appliance_id="],
  ])("can build it, named in %s%s", async (query, body) => {
    const tux = await signedIn();
    const own = await createAppliance(tux);
    const { secret } = await tokenOf(tux, { scope: "build", appliance_id: own });
    const headers = { ...form("").headers, authorization: `Basic ${btoa(`${tux.username}:${secret}`)}` };
    const url = `/api/v2/user/running_builds${query && query + own}`;

    const answer = await visit(url, { method: "POST", headers, body: `${body && body + own}&image_type=oem` });

    expect([answer.status, (await readXml(answer)).build?.state]).toEqual([200, "queued"]);
  });

  it("is deleted with its appliance", async () => {
    const tux = await signedIn();
    const own = await createAppliance(tux);
    const { id, client } = await tokenOf(tux, { scope: "build", appliance_id: own });

    expect((await client.delete(`/appliances/${own}`)).status).toBe(200);

    expect(await rowOf(id)).toBeNull();
  });
});

const json = { "content-type": "application/json" };
const form = (body: string) => ({ body, headers: { "content-type": "application/x-www-form-urlencoded" } });

async function applianceOfDrive(testdriveId: number): Promise<{ applianceId: number }> {
  const applianceId = await env.DB.prepare(
    "SELECT appliance_id FROM builds WHERE id = (SELECT build_id FROM testdrives WHERE id = ?)",
  )
    .bind(testdriveId)
    .first<number>("appliance_id");
  return { applianceId: applianceId ?? 0 };
}
