/** The address of a definition, on the page where an appliance is shared. */
import { beforeAll, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { createAppliance } from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { posted } from "../../support/schematics.ts";

beforeAll(async () => {
  await createAppliance(await signedIn()); // loads the templates
});

it("is shown as long as the appliance has not been changed", async () => {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  const { id, appliance_id } = await posted(tux);
  const page = () => pageOf(firefox.get(`/appliance/${appliance_id}/share`));

  const panel = textOf(await page(), "section[aria-labelledby=schematic]");
  expect(panel).toContain(`https://kiln.test/image/${id}/current/oem`);

  await tux.post(`/appliances/${appliance_id}/cmd/add_package`, { name: "hello" });
  expect(textOf(await page(), "main")).not.toContain(id);
});
