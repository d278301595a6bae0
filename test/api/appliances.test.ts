import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { repositories } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { setRootPassword } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const cloned = async (tux: Client, params = {}): Promise<string> =>
  (await readXml(await tux.post("/appliances", { clone_from: 1, arch: "x86_64", ...params }))).appliance.id;

describe("POST appliances", () => {
  it("clones a template under the given name", async () => {
    const tux = await signedIn();

    const answer = await tux.post("/appliances", { clone_from: 1, name: "Küchen & Kiosk", arch: "x86_64" });

    const { appliance } = await readXml(answer);
    expect(answer.status).toBe(200);
    expect(Object.keys(appliance)).toEqual([
      "id",
      "name",
      "arch",
      "type",
      "last_edited",
      "estimated_raw_size",
      "estimated_compressed_size",
      "edit_url",
      "basesystem",
      "uuid",
      "parent",
      "builds",
    ]);
    expect(appliance).toMatchObject({
      name: "Küchen & Kiosk",
      arch: "x86_64",
      type: "oem",
      estimated_raw_size: "300 MB",
      estimated_compressed_size: "70 MB",
      parent: { id: "1", name: expect.stringContaining("JeOS") },
      builds: { "@type": "array" },
    });
    expect(Number(appliance.id)).toBeGreaterThan(999);
    expect(appliance.edit_url).toBe(`https://kiln.test/appliance/edit/${appliance.id}`);
  });

  it("defaults to i686 and a name from its owner", async () => {
    const tux = await signedIn();

    const { appliance } = await readXml(await tux.post("/appliances", { clone_from: 2 }));

    expect(appliance).toMatchObject({ arch: "i586", name: `${tux.username}'s Tiny Linux 1.0, Server` });
  });

  it.each<[string, Record<string, string>]>([
    ["white space around a name", { name: "  Kiosk\u00a0" }],
    ["only white space", { name: "   " }],
    ["a name that is truncated after a word", { clone_from: "LONG" }],
  ])("makes a name that PUT configuration accepts, from %s", async (_, given) => {
    const tux = await signedIn();
    const long = await cloned(tux, { name: `${"x".repeat(252 - tux.username.length)} y` });
    const id = await cloned(tux, given.clone_from ? { clone_from: long } : given);
    const shown = await (await tux.get(`/appliances/${id}/configuration`)).text();

    const answer = await tux.put(`/appliances/${id}/configuration`, shown);

    expect([answer.status, await answer.text()]).toEqual([200, shown]);
  });

  it.each(["a\ufffe", "\uffff"])("refuses the name %j, which XML cannot represent", async (name) => {
    const tux = await signedIn();
    await expectError(await tux.post("/appliances", { clone_from: 1, name }), 400, "invalid_value");
  });

  it("copies the source's selection, which is then independent", async () => {
    const tux = await signedIn();
    const source = await cloned(tux);
    await tux.post(`/appliances/${source}/cmd/add_package`, { name: "hello" });

    const copy = await cloned(tux, { clone_from: source });
    await tux.post(`/appliances/${source}/cmd/remove_package`, { name: "hello" });

    const { software } = await readXml(await tux.get(`/appliances/${copy}/software`));
    expect(software).toMatchObject({ package: "hello", pattern: "base" });
  });

  it.each([
    ["form fields", new URLSearchParams({ clone_from: "1", name: "Formed", arch: "x86_64", version: "" })],
    ["multipart fields", multipart({ clone_from: "1", name: "Formed", arch: "x86_64" })],
  ])("accepts parameters from %s", async (_how, body) => {
    const tux = await signedIn();
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;

    const answer = await visit("/api/v2/user/appliances", { method: "POST", body, headers: { authorization } });

    expect((await readXml(answer)).appliance).toMatchObject({ name: "Formed", arch: "x86_64" });
  });

  it.each([
    [{}, "missing_parameter"],
    [{ clone_from: "" }, "missing_parameter"],
    [{ clone_from: "1x" }, "invalid_appliance_id"],
    [{ clone_from: 0 }, "invalid_appliance_id"],
    [{ clone_from: 999 }, "invalid_appliance_id"],
    [{ clone_from: 1, arch: "armv7l" }, "invalid_architecture"],
    [{ clone_from: 1, arch: "aarch64" }, "invalid_architecture"],
    [{ clone_from: 1, arch: "sparc" }, "invalid_value"],
    [{ clone_from: 1, name: "a\nb" }, "invalid_value"],
    [{ clone_from: 1, name: "x".repeat(256) }, "invalid_value"],
  ])("refuses %j with %s and creates nothing", async (params, code) => {
    const tux = await signedIn();

    await expectError(await tux.post("/appliances", params as Record<string, string>), 400, code);
    expect((await readXml(await tux.get("/appliances"))).appliances.appliance).toBeUndefined();
  });
});

describe("GET appliances", () => {
  it("lists the caller's own appliances and no templates", async () => {
    const tux = await signedIn();
    const ids = [await cloned(tux), await cloned(tux)];
    await cloned(await signedIn());

    const { appliances } = await readXml(await tux.get("/appliances"));

    expect(appliances["@type"]).toBe("array");
    expect(appliances.appliance.map((one: { id: string }) => one.id)).toEqual(ids);
  });

  it("includes an icon on v1 only", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    expect((await readXml(await tux.on("v1").get(`/appliances/${id}`))).appliance.icon_url).toContain(id);
    expect((await readXml(await tux.get(`/appliances/${id}`))).appliance.icon_url).toBeUndefined();
  });
});

describe("GET appliances/<id>", () => {
  it("shows template 1 to everyone, without a parent", async () => {
    const tux = await signedIn();

    const { appliance } = await readXml(await tux.get("/appliances/1"));

    expect(Object.keys(appliance)).not.toContain("parent");
    expect(appliance.builds).toEqual({ "@type": "array" });
  });

  it.each(["1%20", "99999999999999999999"])("answers with an error for %s", async (id) => {
    const tux = await signedIn();

    await expectError(await tux.get(`/appliances/${id}`), 404, "invalid_appliance_id");
    await expectError(await tux.on("v1").get(`/appliances/${id}`), 400, "invalid_appliance_id");
  });
});

describe("DELETE appliances/<id>", () => {
  it("returns success, and the appliance no longer exists", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);

    const answer = await tux.delete(`/appliances/${id}`);

    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("<success></success>\n");
    await expectError(await tux.get(`/appliances/${id}`), 404, "invalid_appliance_id");
    await expectError(await tux.delete(`/appliances/${id}`), 404, "invalid_appliance_id");
  });
});

describe("GET appliances/<id>/status", () => {
  it("is ok for a new clone, with an issues element without attributes", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await setRootPassword(tux, Number(id));

    const answer = await tux.get(`/appliances/${id}/status/`);

    expect(await answer.text()).toBe("<status>\n  <state>ok</state>\n  <issues>\n  </issues>\n</status>\n");
  });

  it("reports that there are no packages for its architecture", async () => {
    const tux = await signedIn();
    const id = await cloned(tux, { arch: "i686" });
    await setRootPassword(tux, Number(id));
    await openDatabase(env)
      .update(repositories)
      .set({ arches: ["x86_64"] });

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));

    expect(status).toMatchObject({
      state: "error",
      issues: { issue: { type: "error", text: expect.stringContaining("i586") } },
    });
  });

  it("reports a missing kernel and boot loader, and the fix", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await setRootPassword(tux, Number(id));
    await tux.post(`/appliances/${id}/cmd/remove_pattern`, { name: "base" });

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));

    expect(status.state).toBe("error");
    expect(status.issues.issue.map((issue: { solution: unknown }) => issue.solution)).toEqual([
      { type: "install", package: "kernel-default" },
      { type: "install", package: "grub2" },
    ]);
  });
});

function multipart(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}
