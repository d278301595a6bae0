/** The packages of an image that have newer versions, on the page of its builds. */
import { beforeEach, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { putConfiguration } from "../../support/configurations.ts";
import { loadDebian } from "../../support/debian.ts";
import { createAppliance, setRootPassword, startBuild } from "../../support/factories.ts";
import { fakeAgent } from "../../support/fake-agent.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { readXml } from "../../support/xml.ts";

const deb = (name: string, version: string, release: string) => ({ name, version, release, arch: "amd64" });

let tux: Client;
let firefox: ReturnType<typeof browser>;
let mirror: Awaited<ReturnType<typeof loadDebian>>;
let applianceId: number;
let agent: Awaited<ReturnType<typeof fakeAgent>>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
  await createAppliance(tux); // loads the templates
  mirror = await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
  await setRootPassword(tux, applianceId);
  agent = await fakeAgent();
});

const built = async (apache: string) => {
  const id = await startBuild(tux, applianceId);
  const installed = [deb("apache2", "2.4.65", apache), deb("base-files", "12.4+deb12u12", "")];
  await agent.buildsSuccessfully(id, undefined, { installed });
  return id;
};
const page = (query = "") => pageOf(firefox.get(`/appliance/${applianceId}/build${query}`));

it("shows newer packages and security updates of the newest image, and builds it again", async () => {
  const id = await built("1~deb12u1");
  expect(textOf(await page(), `#updates-${id}`)).toMatch(/^Updates no newer versions looked /);

  await mirror.publish({ main: ["base-files 12.4+deb12u13"], security: ["apache2 2.4.66-1~deb12u1"] });
  const newer = await page();
  expect(textOf(newer, `#updates-${id} summary`)).toBe("2 packages have newer versions, 1 of them a security update");
  const rows = [...newer.querySelectorAll(`#updates-${id} tbody tr`)].map((row) =>
    [...row.querySelectorAll("th, td")].map((cell) => cell.textContent?.trim()),
  );
  expect(textOf(newer, `#updates-${id} .state`)).toBe("1 security update");
  expect(rows).toEqual([
    ["apache2 security", "2.4.65-1~deb12u1", "2.4.66-1~deb12u1", "Debian Test, security"],
    ["base-files", "12.4+deb12u12", "12.4+deb12u13", "Debian Test"],
  ]);

  const form = newer.querySelector(`#updates-${id} form`);
  const fields = [...(form?.querySelectorAll("input") ?? [])].map((one) => [
    one.getAttribute("name") ?? "",
    one.getAttribute("value") ?? "",
  ]);
  const sent = { ...Object.fromEntries(fields), form_token: await firefox.formToken() };
  expect((await firefox.post(form?.getAttribute("action") ?? "", sent)).status).toBe(303);
  const { running_builds: running } = await readXml(await tux.get(`/running_builds?appliance_id=${applianceId}`));
  expect(running.running_build).toMatchObject({ version: "0.0.2", state: "queued" });
});

it("says until when an automatic build waits", async () => {
  const id = await built("1~deb12u1");
  const tomorrow = new Date(Date.now() + 24 * 60 * 60_000);
  const day = tomorrow.toUTCString().slice(0, 3).toLowerCase();
  const settings = { automatic_builds: "security", automatic_builds_at: `${day} 02:30-05:00` };
  expect((await putConfiguration(tux, applianceId, { settings })).status).toBe(200);
  expect(textOf(await page(), `#updates-${id}`)).not.toContain("waits");

  await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });

  const until = `${tomorrow.toISOString().slice(0, 10)} 02:30 UTC`;
  expect(textOf(await page(), `#updates-${id}`)).toContain(`The next automatic build waits until ${until}.`);
});

const list = () => pageOf(firefox.get("/appliances"));

it("shows in the list of appliances how many security updates an image lacks", async () => {
  await built("1~deb12u1");
  await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });
  expect((await list()).querySelector(`#appliance-${applianceId}`)?.textContent).not.toContain("security update");

  await page();

  expect((await list()).querySelector(`#appliance-${applianceId}`)?.textContent).toContain("1 security update");
});

it("shows those of an older image on request", async () => {
  const older = await built("0~deb12u9");
  const newest = await built("1~deb12u1");

  const first = await page();
  expect(first.querySelector(`#updates-${older}`)).toBeNull();
  const link = first.querySelector(`a[href$="#updates-${older}"]`)?.getAttribute("href") ?? "";
  const asked = await pageOf(firefox.get(link.replace(/#.*/, "")));

  expect(textOf(asked, `#updates-${older} summary`)).toBe("1 package has a newer version, a security update");
  expect(asked.querySelector(`#updates-${newest}`)).toBeNull();
});

it("lists the services that packages of the image start at boot", async () => {
  const id = await startBuild(tux, applianceId);
  const apache = { ...deb("apache2", "2.4.65", "1"), services: ["apache2.service", "apache-htcacheclean.service"] };
  await agent.buildsSuccessfully(id, undefined, { installed: [apache, deb("base-files", "12", "")] });
  const shown = await page();
  const cells = [...shown.querySelectorAll("[aria-label^='Services of'] :is(tbody th, td)")];
  expect(cells.map(({ textContent }) => textContent?.trim())).toEqual([
    "apache2",
    "apache2.service, apache-htcacheclean.service",
  ]);

  await built("1~deb12u1");
  expect((await page()).querySelector("[aria-label^='Services of']")).toBeNull();
});
