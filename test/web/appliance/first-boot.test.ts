/** The first boot on an appliance's pages: the choice, and the button that solves a conflict. */
import { beforeEach, describe, expect, it } from "vitest";
import { removeBaseSystemFact, setBaseSystemFact } from "../../support/base-system-facts.ts";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { createBuild } from "../../support/factories.ts";
import { configure } from "../../support/gallery.ts";
import { hiddenFields, pageOf, textOf } from "../../support/html.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => {
  await removeBaseSystemFact("firstBoot");
  ({ tux, firefox, id } = await applianceOwner());
});

/** Gives all base systems a package that configures machines. */
const withCloudInit = () => setBaseSystemFact("firstBoot", { "cloud-init": ["hello"] });

const startup = async () => await pageOf(firefox.get(`/appliance/${id}/configuration/startup`));
const send = async (path: string, form: Record<string, string>) =>
  await firefox.post(`/appliance/${id}/configuration/${path}`, { form_token: await firefox.formToken(), ...form });
const stored = async () => {
  const answer = await tux.get(`/appliances/${id}/configuration`, { headers: { accept: "application/json" } });
  const { configuration } = await answer.json<{ configuration: { network: object } }>();
  return configuration;
};

describe("the first boot of an appliance", () => {
  it("is asked for only if the base system has packages for it", async () => {
    expect((await startup()).querySelector("[name='settings/first_boot']")).toBeNull();
    await withCloudInit();
    expect((await startup()).querySelector("[name='settings/first_boot']")).not.toBeNull();
  });

  it("has a button for a conflict of two networks, which keeps everything else", async () => {
    await withCloudInit();
    await configure(
      tux,
      id,
      `<settings><first_boot>cloud-init</first_boot></settings>
       <network><type>manual</type><hostname>web</hostname><ip>192.0.2.10</ip><netmask>24</netmask></network>`,
    );

    const page = await pageOf(firefox.get(`/appliance/${id}`));
    const form = page.querySelector(`form[action="/appliance/${id}/configuration/solve"]`);
    expect(form?.textContent).toContain("Use DHCP");
    const answer = await send("solve", hiddenFields(form));

    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/appliance/${id}/configuration/network`]);
    expect((await stored()).network).toMatchObject({ type: "dhcp", hostname: "web" });
    expect(textOf(await pageOf(firefox.get(`/appliance/${id}`)), "#problems")).not.toContain("cloud-init");
  });

  it("asks for the data of a testdrive next to a finished image", async () => {
    const { applianceId } = await createBuild(tux);
    const texts = async () => {
      const page = await pageOf(firefox.get(`/appliance/${applianceId}/build`));
      return [...page.querySelectorAll("form[action='/testdrives'] textarea")].map((one) => one.getAttribute("name"));
    };
    expect(await texts()).toEqual([]);
    await withCloudInit();
    await configure(tux, applianceId, "<settings><first_boot>cloud-init</first_boot></settings>");
    expect(await texts()).toEqual(["user_data", "meta_data", "network_config"]);
  });

  it.each([
    ["users/0/password", "secret"],
    ["network/type", "bridge"],
    ["", ""],
  ])("changes nothing for the setting %j with the value %j", async (path, value) => {
    const before = await stored();
    expect((await send("solve", { path, value })).status).toBe(422);
    expect(await stored()).toEqual(before);
  });
});
