/** The pages of an appliance's configuration. */
import { beforeEach, describe, expect, it } from "vitest";
import { isLocale, isTimezone } from "#domain/configuration/rules";
import { languageList, timeZoneList } from "../../../src/web/pages/appliance/configuration/pick-lists.ts";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { configure } from "../../support/gallery.ts";
import { pageOf, textOf, type Page } from "../../support/html.ts";
import { readXml } from "../../support/xml.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

const section = async (path: string) => await pageOf(firefox.get(`/appliance/${id}/configuration/${path}`));
type Sent = Record<string, string> | [name: string, value: string][];
const send = async (path: string, form: Sent) =>
  await firefox.post(`/appliance/${id}/configuration/${path}`, [
    ["form_token", await firefox.formToken()],
    ...(Array.isArray(form) ? form : Object.entries(form)),
  ]);
const stored = async () => (await readXml(await tux.get(`/appliances/${id}/configuration`))).configuration;

const ports = async () => (await stored()).firewall.open_port;

/** The fields that a browser would send if it submitted the section's form unchanged. */
function fieldsOf(page: Page): [name: string, value: string][] {
  const fields = [...page.querySelectorAll(".narrow-form form:not([id]) :is(input, textarea, select)")];
  const sent = fields.filter((one) => one.getAttribute("type") !== "checkbox" || one.hasAttribute("checked"));
  return sent.map((one) => [
    one.getAttribute("name") ?? "",
    one.querySelector("option[selected]")?.getAttribute("value") ?? one.getAttribute("value") ?? one.textContent ?? "",
  ]);
}

const faultsOf = (page: Page) => [...page.querySelectorAll("[role=alert] li")].map(({ textContent }) => textContent);

/** Lists of a form that a browser always sends. */
const divided = { "settings/swap_in": "file", "lvm/kind": "lvm" };

describe("the configuration", () => {
  it("leads to its first section, and knows no others", async () => {
    const answer = await firefox.get(`/appliance/${id}/configuration`);
    expect(answer.headers.get("location")).toBe(`/appliance/${id}/configuration/general`);
    expect((await firefox.get(`/appliance/${id}/configuration/nonsense`)).status).toBe(404);
    const page = await section("general");
    expect([...page.querySelectorAll("nav.side a")].map(({ textContent }) => textContent)).toEqual([
      "Name and description",
      "Pictures",
      "Language and time",
      "Network and firewall",
      "Users",
      "Disk and memory",
      "Startup",
      "Databases",
      "Scripts",
      "Checks",
      "Licence agreements",
      "GPG keys",
    ]);
  });

  it("does not undo what was changed since a form was shown", async () => {
    const form = fieldsOf(await section("general"));
    await configure(tux, id, "<tags><tag>kiosk</tag></tags>");
    const answer = await send("general", form);
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining("It has changed since you")]);
    expect((await stored()).tags).toMatchObject({ tag: "kiosk" });

    // Other sections do not count.
    const again = fieldsOf(await section("general"));
    await configure(tux, id, "<network><type>none</type></network>");
    expect((await send("general", again)).status).toBe(303);
  });

  it.each(["general", "locale", "network", "machine", "startup", "scripts"])(
    "changes nothing if the form %s is sent as it is",
    async (path) => {
      const before = await stored();
      const answer = await send(path, fieldsOf(await section(path)));
      expect([answer.status, answer.headers.get("location")], await answer.text()).toEqual([
        303,
        `/appliance/${id}/configuration/${path}`,
      ]);
      expect(await stored()).toEqual(before);
    },
  );

  it("saves what was entered", async () => {
    await send("general", {
      name: "Reading room",
      version: "0.0.1",
      type: "oem",
      description: "<b>One</b>\r\nscreen",
      "tags/tag": "library, kiosk",
    });
    await send("network", { "network/type": "dhcp", "firewall/open_port": "ssh, 8080" });
    await send("machine", {
      ...divided,
      "settings/memory_size": "768",
      "settings/disk_size": "4",
      "settings/swap_size": "0",
    });
    await send("scripts", { "scripts/build/enabled": "true", "scripts/build/script": "#!/bin/sh\r\n\techo hi\r\n" });

    expect(await stored()).toMatchObject({
      name: "Reading room",
      description: "<b>One</b>\nscreen",
      tags: { tag: ["library", "kiosk"] },
      firewall: { enabled: "false", open_port: ["ssh", "8080"] },
      settings: { memory_size: "768", disk_size: "4" },
      scripts: { build: { enabled: "true", script: "#!/bin/sh\n\techo hi" }, boot: { enabled: "false" } },
    });
    const page = await section("general");
    expect(page.querySelector("textarea b")).toBeNull();
    const html = await (await firefox.get(`/appliance/${id}/configuration/general`)).text();
    expect(html).toContain("&lt;b&gt;One&lt;/b&gt;\nscreen</textarea>");
  });

  it("opens the ports that are checked, and others", async () => {
    await send("network", [
      ["network/type", "dhcp"],
      ["firewall/enabled", "true"],
      ["port", "ssh"],
      ["port", "https"],
      ["firewall/open_port", "8080, 53/udp ssh"],
    ]);
    expect(await ports()).toEqual(["ssh", "https", "8080", "53/udp"]);
    const page = await section("network");
    const checked = [...page.querySelectorAll("[name=port][checked]")].map((one) => one.getAttribute("value"));
    expect(checked).toEqual(["ssh", "https", "8080", "53/udp"]);
    await send("network", [
      ["network/type", "dhcp"],
      ["port", "https"],
    ]);
    expect(await ports()).toBe("https");
  });

  it("offers languages, keyboards and time zones by name", async () => {
    const page = await section("locale");
    const labelOf = (value: string) => page.querySelector(`option[value='${value}']`)?.getAttribute("label");
    expect(labelOf("de_AT.UTF-8")).toBe("German (Austria)");
    expect(page.querySelector("option[value='french-ch']")?.textContent).toBe("French (Switzerland)");
    const zones = [...page.querySelectorAll("#locale-timezone-location-values option")];
    expect(zones.map((one) => one.getAttribute("value"))).toEqual(
      expect.arrayContaining(["UTC", "Europe/Vienna", "Asia/Kolkata", "Europe/Kyiv"]),
    );
  });

  it("accepts each language and time zone that it offers", () => {
    for (const [language] of languageList()) expect([language, isLocale(language)]).toEqual([language, true]);
    for (const [zone] of timeZoneList()) expect([zone, isTimezone(zone)]).toEqual([zone, true]);
  });

  it("shows all faults together", async () => {
    const locale = await send("locale", {
      "locale/language": "German",
      "locale/keyboard_layout": "german",
      "locale/timezone/location": "Vienna",
    });
    expect([locale.status, faultsOf(await pageOf(locale))]).toEqual([
      422,
      ["Language: must be like de_DE.UTF-8.", "Time zone: must be a time zone such as Europe/Vienna."],
    ]);
    const sizes = {
      ...divided,
      "settings/memory_size": "much",
      "settings/disk_size": "0",
      "settings/swap_size": "70000",
    };
    expect(faultsOf(await pageOf(send("machine", sizes)))).toEqual([
      "Memory in MB: must be a whole number, with an optional unit M or G.",
      "Disk in GB: must be 1 to 1024 GB, or at least 64M.",
      "Swap in MB: must be 0 to 65536 MB.",
    ]);
  });

  it("shows what is wrong, and keeps what was entered", async () => {
    expect((await send("machine", { "settings/memory_size": "much" })).status).toBe(422);
    const answer = await send("machine", {
      ...divided,
      "settings/memory_size": "1",
      "settings/disk_size": "4",
      "settings/swap_size": "0",
    });
    expect(answer.status).toBe(422);
    const page = await pageOf(answer);
    expect(textOf(page, "[role=alert]")).toBe("Memory in MB: must be 64 to 65536 MB.");
    const field = page.querySelector("[name='settings/memory_size']");
    expect([field?.getAttribute("value"), field?.getAttribute("aria-invalid")]).toEqual(["1", "true"]);
    expect(field?.getAttribute("data-saved")).not.toBe("1");
  });

  it("does not exist for others", async () => {
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    expect((await stranger.get(`/appliance/${id}/configuration/users`)).status).toBe(404);
  });
});
