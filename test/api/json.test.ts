import { beforeAll, describe, expect, it } from "vitest";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createSafeAppliance, createBuild } from "../support/factories.ts";
import { loadTemplates } from "../support/catalogue.ts";

beforeAll(loadTemplates);

const json = { accept: "application/json" };

/** Requests JSON; returns the parsed document. */
async function ask(tux: Client, path: string, init: RequestInit = {}, status = 200): Promise<unknown> {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  return documentOf(await visit(`/api/v2/user${path}`, { ...init, headers: { ...json, authorization } }), status);
}

async function documentOf(answer: Response, status: number): Promise<unknown> {
  const text = await answer.text();
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(new TextEncoder().encode(text).byteLength),
    // The answers with pages may also be compressed.
    vary: expect.stringMatching(/^Accept(, Accept-Encoding)?$/),
  });
  expect(answer.status).toBe(status);
  return JSON.parse(text);
}

const error = (code: string) => ({ error: { code, message: expect.stringMatching(/\S/) } });

describe("Accept: application/json", () => {
  it("shows an appliance with numbers, times and an array of builds", async () => {
    const tux = await signedIn();
    const { applianceId, buildId } = await createBuild(tux);

    expect(await ask(tux, `/appliances/${applianceId}`)).toMatchObject({
      appliance: {
        id: applianceId,
        name: "Kiosk",
        last_edited: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        parent: { id: 1 },
        builds: [{ id: buildId, image_type: "oem", version: "0.0.1" }],
      },
    });
  });

  it("shows lists as arrays, even with no or one entry", async () => {
    const tux = await signedIn();
    expect(await ask(tux, "/appliances")).toEqual({ appliances: [] });

    const id = await createSafeAppliance(tux);

    expect(await ask(tux, "/appliances")).toMatchObject({ appliances: [{ id, builds: [] }] });
    expect(await ask(tux, `/builds?appliance_id=${id}`)).toEqual({ builds: [] });
    expect(await ask(tux, `/appliances/${id}/status`)).toEqual({ status: { state: "ok", issues: [] } });
  });

  it("shows a selection in one shape, pinned or not", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });

    const document = await ask(tux, `/appliances/${id}/software`);

    expect(document).toMatchObject({ software: { appliance_id: id, pattern: [{ value: "base" }] } });
    expect(document).toMatchObject({ software: { package: expect.arrayContaining([{ value: "hello" }]) } });
  });

  it("puts a list's attributes next to it", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);

    expect(await ask(tux, "/rpms?base_system=tiny-1.0")).toEqual({ base_system: "tiny-1.0", rpms: [] });
    expect(await ask(tux, `/appliances/${id}/software/installed`)).toMatchObject({
      appliance_id: id,
      software_map: [{ name: expect.any(String), id: expect.any(Number), software: { package: expect.any(Array) } }],
    });
  });

  it("shows the results of changes", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);

    expect(await ask(tux, `/appliances/${id}/cmd/add_package?name=hello`, { method: "POST" })).toEqual({
      success: { details: { status: { state: "changed", packages_added: 2, packages_removed: 0 } } },
    });
    expect(await ask(tux, `/appliances/${id}`, { method: "DELETE" })).toEqual({ success: {} });
  });

  it("shows errors as JSON, wherever they come from", async () => {
    const tux = await signedIn();
    expect(await ask(tux, "/appliances/0", {}, 404)).toEqual(error("invalid_appliance_id"));
    expect(await ask(tux, "/builds", {}, 400)).toEqual(error("missing_appliance_id"));
    expect(await ask(tux, "/nothing", {}, 404)).toEqual(error("unknown_error"));
    expect(await ask(tux, "/account", { method: "PUT" }, 400)).toEqual(error("wrong_http_method"));
    expect(await documentOf(await visit("/api/v2/user/account", { headers: json }), 401)).toEqual(
      error("access_denied"),
    );
    expect(await documentOf(await visit("/nothing", { headers: json }), 404)).toEqual(error("unknown_error"));
  });

  it("uses the same URL as XML, which is the default", async () => {
    const tux = await signedIn();

    for (const accept of ["*/*", "application/xml", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"]) {
      const answer = await tux.get("/account", { headers: { accept } });

      expect([answer.headers.get("content-type"), answer.headers.get("vary")]).toEqual([
        "application/xml; charset=utf-8",
        "Accept",
      ]);
      expect(await answer.text()).toContain(`<username>${tux.username}</username>`);
    }
  });

  it("has the right length in the answer to HEAD", async () => {
    const tux = await signedIn();
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await visit("/api/v2/user/api_version", { method: "HEAD", headers: { ...json, authorization } });

    expect(answer.headers.get("content-length")).toBe(String('{"version":"2.0"}\n'.length));
    expect(await answer.text()).toBe("");
  });
});
