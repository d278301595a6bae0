import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

const switchTo = async (on: boolean) => (await operate("PUT", "/read-only", { on })).json();

let tux: Client;
let appliance: number;
beforeEach(async () => {
  tux = await signedIn();
  appliance = await createAppliance(tux);
});
afterEach(() => switchTo(false));

const authorization = () => `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

/** Every call of the API that changes something, as `POST /api/v2/user/…`. */
const changes = [
  ...new Set(
    app.routes
      .filter(({ method, path }) => ["POST", "PUT", "DELETE"].includes(method) && path.startsWith("/api/"))
      .map(({ method, path }) => `${method} ${path.replace(/:\w+(\{[^}]*\})?/g, "1")}`),
  ),
];

/** All state that the API could have changed, without the state that agents and the sweep change. */
async function everything(): Promise<string> {
  const tables = [
    "appliances",
    "selections",
    "appliance_repositories",
    "repositories",
    "rpms",
    "builds",
    "testdrives",
    "overlay_files",
    "gpg_keys",
    "shares",
  ];
  const found = await env.DB.batch(tables.map((table) => env.DB.prepare(`SELECT * FROM ${table}`)));
  return JSON.stringify(found.map(({ results }) => results));
}

describe("while read-only mode is on", () => {
  it("refuses every changing call on both versions", async () => {
    expect(changes.length).toBeGreaterThan(30);
    const before = await everything();
    await switchTo(true);

    for (const change of changes) {
      const [method = "", path = ""] = change.split(" ");
      const answer = await visit(path, { method, headers: { authorization: authorization() } });
      await expectError(answer, 400, "read_only_mode_active");
    }

    expect(await everything()).toBe(before);
  });

  it("refuses real work, and accepts it again afterwards", async () => {
    await switchTo(true);

    await expectError(await tux.post("/running_builds", { appliance_id: appliance }), 400, "read_only_mode_active");
    await expectError(
      await tux.post(`/appliances/${appliance}/cmd/add_package`, { name: "hello" }),
      400,
      "read_only_mode_active",
    );
    await expectError(await tux.delete(`/appliances/${appliance}`), 400, "read_only_mode_active");
    await switchTo(false);

    expect((await tux.delete(`/appliances/${appliance}`)).status).toBe(200);
  });

  it("checks credentials first", async () => {
    await switchTo(true);

    await expectError(await visit(`/api/v2/user/appliances/${appliance}`, { method: "DELETE" }), 401, "access_denied");
  });

  it.each(["/account", "/appliances", "/template_sets", "/testdrives"])("answers GET %s as usual", async (path) => {
    await switchTo(true);

    expect((await tux.get(path)).status).toBe(200);
  });

  it("shows every appliance's status as one issue that names it", async () => {
    await switchTo(true);

    const { status } = await readXml(await tux.get(`/appliances/${appliance}/status`));

    expect(status).toEqual({
      state: "error",
      issues: { issue: { type: "error", text: expect.stringContaining("read-only mode") } },
    });
    await switchTo(false);
    expect((await readXml(await tux.get(`/appliances/${appliance}/status`))).status.state).toBe("ok");
  });

  it("lets agents finish work in progress", async () => {
    const buildId = await startBuild(tux, appliance);
    await switchTo(true);

    await (await fakeAgent()).buildsSuccessfully(buildId);

    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    expect(build).toMatchObject({ id: String(buildId), version: "0.0.1" });
  });

  it("makes no new API key", async () => {
    const headers = { authorization: authorization() };
    const html = await (await visit("/user/show_api_key", { headers })).text();
    const formToken = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";
    const renew = () =>
      visit("/user/show_api_key", { method: "POST", headers, body: new URLSearchParams({ form_token: formToken }) });
    await switchTo(true);

    await expectError(await renew(), 400, "read_only_mode_active");
    expect((await tux.get("/account")).status).toBe(200);
    await switchTo(false);

    expect((await renew()).status).toBe(200);
    expect((await tux.get("/account")).status).toBe(401);
  });
});

describe("the operator's switch", () => {
  it("keeps the time it was first set, and can be read", async () => {
    expect(await (await operate("GET", "/read-only")).json()).toEqual({ on: false, since: null, message: null });
    const first = await switchTo(true);

    expect(first).toEqual({ on: true, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), message: null });
    expect(await switchTo(true)).toEqual(first);
    expect(await (await operate("GET", "/read-only")).json()).toEqual(first);
    expect(await switchTo(false)).toEqual({ on: false, since: null, message: null });
  });

  it.each([{}, { on: "yes" }, []])("refuses %j", async (body) => {
    expect((await operate("PUT", "/read-only", body)).status).toBe(400);
    expect(await (await operate("GET", "/read-only")).json()).toMatchObject({ on: false });
  });

  it("requires the admin secret", async () => {
    const answer = await visit("/admin/read-only", { method: "PUT", body: '{"on":true}' });

    expect(answer.status).toBe(401);
    expect(await (await operate("GET", "/read-only")).json()).toMatchObject({ on: false });
  });
});
