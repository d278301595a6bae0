/** The forms of channels on the page where versions are published, and their addresses in the gallery. */
import { beforeEach, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, visit, type Client } from "../../support/client.ts";
import { publishedAppliance } from "../../support/gallery.ts";
import { pageOf, textOf } from "../../support/html.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
let id: number;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
  ({ applianceId: id } = await publishedAppliance(tux));
});

const panel = "section[aria-labelledby=channels]";
const send = async (fields: Record<string, string>) =>
  await firefox.post(`/appliance/${id}/share/channels`, { form_token: await firefox.formToken(), ...fields });
const shared = async () => textOf(await pageOf(firefox.get(`/appliance/${id}/share`)), panel);

it("makes a channel, shows its address to everyone, and removes it", async () => {
  expect((await send({ do: "change", name: "stable", version: "0.0.1", automatic: "true" })).status).toBe(303);
  const address = `https://kiln.test/image/${tux.username}/${id}/stable/oem`;
  expect(await shared()).toContain(address);
  expect(await shared()).toContain("Moves to each newer version");
  const published = await pageOf(visit(`/gallery/${id}`));
  expect(textOf(published, panel)).toContain(address);

  await send({ do: "change", name: "stable", automatic: "false" });
  expect(await shared()).toContain("Moves only when you move it.");

  await send({ do: "remove", name: "stable" });
  expect(await shared()).not.toContain(address);
  expect((await pageOf(visit(`/gallery/${id}`))).querySelector(panel)).toBeNull();
});

it("shows what is wrong with a name or a version at its field", async () => {
  const named = await pageOf(send({ do: "change", name: "Bad name", form: "add-channel" }));
  expect(textOf(named, `${panel} .wrong`)).toContain("lower-case letters");
  const moved = await pageOf(send({ do: "change", name: "stable", version: "9.9.9", form: "add-channel" }));
  expect(textOf(moved, `${panel} .wrong`)).toContain("9.9.9 is not published");
});
