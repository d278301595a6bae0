/** A user's list of appliances, and the creation of new ones. */
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import {
  createAppliance,
  createBuild,
  createSafeAppliance,
  setRootPassword,
  startBuild,
} from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { readXml } from "../../support/xml.ts";

const evil = `<svg onload=alert(1)>"'&`;
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const list = (query = "") => pageOf(firefox.get(`/appliances${query}`));

describe("my appliances", () => {
  it("begins with the templates, and makes an appliance of one", async () => {
    await createAppliance(await signedIn());
    const first = await firefox.get("/appliances");
    expect([first.status, first.headers.get("location")]).toEqual([303, "/appliances/new"]);
    const page = await pageOf(firefox.get("/appliances/new"));
    expect(page.querySelectorAll("[name=clone_from]").length).toBeGreaterThan(1);
    const form = { form_token: await firefox.formToken(), form: "new", clone_from: "1", arch: "x86_64" };
    const answer = await firefox.post("/appliances", { ...form, name: evil, once: "1" });
    expect(answer.headers.get("location")).toMatch(/^\/appliance\/\d+$/);
    expect(textOf(await list(), ".appliances h2")).toBe(evil);
    expect(await (await firefox.get("/appliances")).text()).not.toContain("<svg onload");
  });

  it("keeps what was entered if it cannot be made", async () => {
    const form = { form_token: await firefox.formToken(), form: "new", clone_from: "1", arch: "sparc", name: "Desk" };
    const answer = await firefox.post("/appliances", form);
    expect(answer.status).toBe(422);
    const page = await pageOf(answer);
    expect(page.querySelector("#new-name")?.getAttribute("value")).toBe("Desk");
    expect(textOf(page, "#new [role=alert]")).toContain("arch must be one of x86_64, i686, aarch64.");
  });

  it("shows each with its state, its last build, and what comes next", async () => {
    const { applianceId: built } = await createBuild(tux);
    const waiting = await createAppliance(tux, { name: "Waiting" });
    await startBuild(tux, waiting);
    const fresh = await createAppliance(tux, { name: "Fresh" });
    await setRootPassword(tux, fresh);
    for (const id of [built, fresh]) await tux.get(`/appliances/${id}/status`);
    const page = await list();
    const row = (id: number) => textOf(page, `#appliance-${id}`);
    expect(textOf(page, "h1")).toBe("My appliances 3");
    expect(row(waiting)).toMatch(/Waiting, number \d+.*Watch/);
    expect(row(built)).toMatch(/1 warning.*root has the password of the template.*Built just now.*oem.*Testdrive/);
    expect(row(fresh)).toMatch(/Ready to build.*Never built.*Build/);
    expect(page.querySelector("noscript meta")).not.toBeNull();
  });

  it("says the same of an appliance as its own page does", async () => {
    const ids = [await createAppliance(tux), await createSafeAppliance(tux), await createSafeAppliance(tux)];
    await tux.post(`/appliances/${ids[2]}/cmd/add_package`, { name: "no-such-package" });
    for (const id of ids) await tux.get(`/appliances/${id}/status`);
    const page = await list();
    const listed = ids.map((id) => textOf(page, `#appliance-${id} .at .state`));
    const own = ids.map(async (id) => textOf(await pageOf(firefox.get(`/appliance/${id}`)), "#status"));
    expect(listed).toEqual(await Promise.all(own));
    expect(listed).toEqual(["1 warning", "Ready to build", "Cannot be built"]);
  });

  it("is searched by name and by package", async () => {
    await createAppliance(tux, { name: "Reading room" });
    await createAppliance(tux, { name: "Gateway" });
    expect(textOf(await list("?search=reading"), ".appliances h2")).toBe("Reading room");
    expect(textOf(await list("?search=none"), ".empty h2")).toBe("Nothing found for “none”");
  });

  it("shows what others share, and clones it", async () => {
    const other = await signedIn();
    const id = await createAppliance(other, { name: "Rescue disk" });
    await other.post(`/appliances/${id}/sharing/${tux.username}`);
    const page = await list();
    expect(textOf(page, "[aria-labelledby=shared]")).toMatch(/Rescue disk.*You can view and clone.*Clone/);
    const form = { form_token: await firefox.formToken(), clone_from: String(id), arch: "x86_64" };
    expect((await firefox.post("/appliances", form)).status).toBe(303);
  });

  it("deletes one's own, and no other's", async () => {
    const id = await createAppliance(tux);
    const foreign = await createAppliance(await signedIn());
    const form = { form_token: await firefox.formToken() };
    expect((await firefox.post(`/appliance/${foreign}/delete`, form)).status).toBe(404);
    const answer = await firefox.post(`/appliance/${id}/delete`, form);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/appliances"]);
    const { appliances } = await readXml(await tux.get("/appliances"));
    expect(appliances).not.toMatchObject({ appliance: expect.anything() });
  });
});
