/** Automatic updates on an appliance's pages: the choice, and the button that undoes it. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { configure } from "../../support/gallery.ts";
import { hiddenFields, pageOf, textOf } from "../../support/html.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => {
  await setPackages("{}");
  ({ tux, firefox, id } = await applianceOwner());
});

/** The packages of all base systems for automatic updates. */
const setPackages = async (packages: string) => {
  const facts = `json_patch(json_remove(facts, '$.automaticUpdates'), ?)`;
  await env.DB.prepare(`UPDATE base_systems SET facts = ${facts}`).bind(packages).run();
};
const withPackages = () => setPackages(`{"automaticUpdates":{"security":["hello"],"all":["hello"]}}`);

const startup = async () => await pageOf(firefox.get(`/appliance/${id}/configuration/startup`));
const post = async (path: string, form: Record<string, string>) =>
  await firefox.post(`/appliance/${id}/configuration/${path}`, { form_token: await firefox.formToken(), ...form });
const problems = async () => textOf(await pageOf(firefox.get(`/appliance/${id}`)), "#problems");

const names = ["settings/automatic_updates", "settings/updates_reboot_at"];

describe("the automatic updates of an appliance", () => {
  it("are asked for only if the base system has packages for them", async () => {
    const before = await startup();
    expect(names.filter((name) => before.querySelector(`[name='${name}']`))).toEqual([]);
    await withPackages();
    const after = await startup();
    expect(names.filter((name) => after.querySelector(`[name='${name}']`))).toEqual(names);
  });

  it("are chosen with the time of a restart", async () => {
    await withPackages();
    const chosen = {
      "settings/runlevel": "3",
      "settings/automatic_updates": "all",
      "settings/updates_reboot_at": "04:30",
    };
    expect((await post("startup", chosen)).status).toBe(303);
    const page = await startup();
    expect(page.querySelector("[name='settings/automatic_updates'] [selected]")?.getAttribute("value")).toBe("all");
    expect(page.querySelector("[name='settings/updates_reboot_at']")?.getAttribute("value")).toBe("04:30");
  });

  it("are a warning if no repository brings security updates", async () => {
    await withPackages();
    await configure(tux, id, "<settings><automatic_updates>security</automatic_updates></settings>");
    expect(await problems()).toContain("no repository of the appliance provides any");
    await configure(tux, id, "<settings><automatic_updates>all</automatic_updates></settings>");
    expect(await problems()).not.toContain("no repository of the appliance provides any");
  });

  it("can be taken back with a button if the base system no longer has packages for them", async () => {
    await withPackages();
    await configure(tux, id, "<settings><automatic_updates>security</automatic_updates></settings>");
    await setPackages("{}");

    const form = (await pageOf(firefox.get(`/appliance/${id}`))).querySelector("form[action$='/configuration/solve']");
    expect(form?.textContent).toContain("Use no automatic updates");
    expect((await post("solve", hiddenFields(form))).status).toBe(303);
    expect(await problems()).not.toContain("utomatic updates");
  });

  it("stay refused while other settings can be changed", async () => {
    await withPackages();
    await configure(tux, id, "<settings><automatic_updates>security</automatic_updates></settings>");
    await setPackages("{}");

    await configure(tux, id, "<settings><swap_size>16</swap_size></settings>");
    const sent = "<settings><automatic_updates>all</automatic_updates></settings>";
    const answer = await tux.put(`/appliances/${id}/configuration`, `<configuration>${sent}</configuration>`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("settings/automatic_updates: must be none, because Kiln knows no packages");
  });
});
