/** The head of an appliance's pages, and the first of these pages. */
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import {
  createAppliance,
  createSafeAppliance,
  setRootPassword,
  createBuild,
  startBuild,
} from "../../support/factories.ts";
import { configure } from "../../support/gallery.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { readXml } from "../../support/xml.ts";

const evil = `<img src=x onerror="alert(1)">'"</title>`;
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const overview = async (id: number) => await pageOf(firefox.get(`/appliance/${id}`));

describe("an appliance's head", () => {
  it("shows the type and state of an appliance, and builds it", async () => {
    const id = await createSafeAppliance(tux);
    const page = await overview(id);
    expect(page.title).toBe("Overview · Kiosk · Kiln");
    expect(textOf(page, "h1")).toBe("Kiosk 0.0.1");
    expect(textOf(page, "#status")).toBe("Ready to build");
    expect(textOf(page, "#size")).toMatch(/^Packages\d+Software, about\d+ MBDisk[\d,]+ MBDownload, about\d+ MB$/);
    expect(textOf(page, "nav.tabs [aria-current]")).toBe("Overview");
    const form = page.querySelector(`form[action="/appliance/${id}/builds"]`);
    expect(textOf(page, ".build .primary")).toBe("Build oem");
    expect(form?.querySelector("[name=once]")).not.toBeNull();
  });

  it("is the address that the API gives out", async () => {
    const id = await createAppliance(tux);
    const { appliance } = await readXml(await tux.get(`/appliances/${id}`));
    const answer = await firefox.get(new URL(appliance.edit_url).pathname);
    expect([answer.status, answer.headers.get("location")]).toEqual([301, `/appliance/${id}`]);
  });

  it("starts a build once, however often its form is sent", async () => {
    const id = await createAppliance(tux);
    const form = { form_token: await firefox.formToken(), image_type: "oem", once: crypto.randomUUID() };
    const answers = await Promise.all([
      firefox.post(`/appliance/${id}/builds`, form),
      firefox.post(`/appliance/${id}/builds`, form),
    ]);
    answers.push(await firefox.post(`/appliance/${id}/builds`, form));
    expect(answers.map(({ status }) => status)).toContain(303);
    expect(answers.at(-1)?.headers.get("location")).toBe(`/appliance/${id}/build`);
    const { running_builds: running } = await readXml(await tux.get(`/running_builds?appliance_id=${id}`));
    expect(running.running_build).toMatchObject({ image_type: "oem" });
    const page = await overview(id);
    expect(textOf(page, "#status")).toMatch(/^Waiting, number \d+$/);
    expect(textOf(page, "#running")).toContain("oem waits");
    expect(page.querySelector("noscript meta[http-equiv=refresh]")).not.toBeNull();
  });

  it("shows why a build cannot start", async () => {
    const id = await createAppliance(tux);
    await startBuild(tux, id);
    const form = { form_token: await firefox.formToken(), image_type: "oem" };
    const answer = await firefox.post(`/appliance/${id}/builds`, form);
    expect(answer.status).toBe(422);
    expect(textOf(await pageOf(answer), "#problems [role=alert]")).toContain("is being built as oem");
    const none = await firefox.post(`/appliance/${id}/builds`, { form_token: form.form_token });
    expect(textOf(await pageOf(none), "#problems [role=alert]")).toContain("Choose at least one format.");
  });

  it("warns while root has the password of the template, on every page, and leads to where it is set", async () => {
    const id = await createAppliance(tux);
    const { status } = await (
      await tux.get(`/appliances/${id}/status`, { headers: { accept: "application/json" } })
    ).json<{ status: { state: string; issues: { type: string; text: string }[] } }>();
    expect(status.state).toBe("ok");
    expect(status.issues).toEqual([{ type: "warning", text: expect.stringMatching(/^root has the password of the/) }]);
    for (const tab of ["", "/build", "/share", "/configuration/users"]) {
      const page = await pageOf(firefox.get(`/appliance/${id}${tab}`));
      expect(textOf(page, "#problems .notice")).toContain(status.issues[0]?.text);
      expect(page.querySelector("#problems a")?.getAttribute("href")).toBe(`/appliance/${id}/configuration/users`);
    }
    await setRootPassword(tux, id);
    expect((await overview(id)).querySelector("#problems .notice")).toBeNull();
  });

  it("shows what is wrong, with a button that fixes it, and one that takes that back", async () => {
    const id = await createSafeAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });
    const page = await overview(id);
    expect(textOf(page, "#status")).toBe("Cannot be built");
    expect(page.querySelector(".build .primary")?.hasAttribute("disabled")).toBe(true);
    expect(textOf(page, "#problems .solutions")).toBe("Remove no-such-package");
    const fields = { do: "remove", kind: "package", name: "no-such-package", form_token: await firefox.formToken() };
    const referer = `https://kiln.test/appliance/${id}`;
    const answer = await firefox.post(`/appliance/${id}/software`, fields, { referer });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, referer]);
    const after = await overview(id);
    expect(textOf(after, "#status")).toBe("Ready to build");
    expect(textOf(after, "#result p")).toContain("no-such-package is removed.");
    expect(after.querySelector("#result [name=do]")?.getAttribute("value")).toBe("add");
  });
});

describe("the overview", () => {
  it("shows builds with their downloads, and what the appliance contains", async () => {
    const { applianceId } = await createBuild(tux);
    const page = await overview(applianceId);
    expect(textOf(page, "[aria-labelledby=last]")).toMatch(/oem.*0\.0\.1.*Testdrive/);
    const link = page.querySelector("[aria-labelledby=last] a[aria-label]")?.getAttribute("href") ?? "";
    expect((await firefox.get(link)).status).toBe(200);
    expect(textOf(page, "[aria-labelledby=what]")).toMatch(/pattern selected.*from 2 repositories/);
  });

  it("counts what has changed since the last image, whose sizes it shows until then", async () => {
    const { applianceId } = await createBuild(tux);
    const before = await overview(applianceId);
    expect(textOf(before, "[aria-labelledby=since]")).toBe("Changes since 0.0.1Nothing has changed.");
    expect(textOf(before, "[aria-labelledby=about]")).toContain("Boots byBIOS");
    expect(textOf(before, "#size")).toMatch(/Disk, 0\.0\.1\d+ MBDownload, 0\.0\.1\d+ MB$/);

    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    await configure(tux, applianceId, "<locale><timezone><location>Europe/Vienna</location></timezone></locale>");
    const after = await overview(applianceId);
    expect(textOf(after, "[aria-labelledby=since]")).toMatch(
      /^Changes since 0\.0\.1Packages2 addedSettings1 changed\+ hello \S+\+ libgreet \S+$/,
    );
    expect(textOf(after, "#size")).toContain("Download, about");
  });

  it("shows texts of people as texts", async () => {
    const id = await createAppliance(tux, { name: evil });
    await configure(tux, id, "<description>&lt;script>alert(1)&lt;/script></description>");
    const html = await (await firefox.get(`/appliance/${id}`)).text();
    expect(html).not.toMatch(/<img src=x|<script>/);
    const page = await overview(id);
    expect(textOf(page, "h1")).toContain(evil);
    expect(textOf(page, ".breaks")).toBe("<script>alert(1)</script>");
  });

  it("does not exist for others, who see it once it is shared, and change nothing", async () => {
    const other = await signedIn();
    const id = await createAppliance(other);
    expect((await firefox.get(`/appliance/${id}`, { accept: "text/html" })).status).toBe(404);
    expect((await firefox.post(`/appliance/${id}/builds`, { form_token: await firefox.formToken() })).status).toBe(404);
    await other.post(`/appliances/${id}/sharing/${tux.username}`);
    const page = await overview(id);
    expect(textOf(page, "#status")).toBe("You can view and clone");
    expect(page.querySelector("nav.tabs")).toBeNull();
    const form = { form_token: await firefox.formToken(), image_type: "oem" };
    expect((await firefox.post(`/appliance/${id}/builds`, form)).status).toBe(403);
  });

  it("asks those who are not signed in to sign in", async () => {
    const answer = await browser().get("/appliance/1000");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/sign_in?to=%2Fappliance%2F1000"]);
  });
});
