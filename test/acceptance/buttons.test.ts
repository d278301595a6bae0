import { beforeAll, describe, expect, it } from "vitest";
import { inBrowser } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { makeOperator, sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";

let tux: Person;
beforeAll(async () => {
  const service = await sharedService("with-agent");
  tux = await newPerson(service, "buttons");
  await makeOperator(service, "buttons");
});

describe("buttons", () => {
  it("of agents are in view on a phone", async () => {
    await inBrowser(`${tux.ready.url}/sign_in`, async (page) => {
      await signInHere(page, tux);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${tux.ready.url}/service`);
      const drain = page.getByRole("button", { name: /^Drain/ });
      expect(await drain.isVisible()).toBe(true);
      const { x = 0, width = 0 } = (await drain.boundingBox()) ?? {};
      expect(x + width).toBeLessThanOrEqual(390);
    });
  });

  it("keep the focus when the settings are saved or refused by keyboard", async () => {
    const { appliance } = await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
    await inBrowser(`${tux.ready.url}/sign_in`, async (page) => {
      await signInHere(page, tux);
      await page.goto(`${tux.ready.url}/appliance/${appliance.id}/configuration/network`);
      const name = page.getByLabel("Host name");
      const save = page.getByRole("button", { name: "Save", exact: true });
      await name.fill("webshop");
      await save.press("Enter");
      await page.locator("#result", { hasText: "saved" }).waitFor();
      expect(await save.evaluate((button) => button === document.activeElement)).toBe(true);
      expect([await name.inputValue(), await page.locator("[data-unsaved-count]").innerText()]).toEqual([
        "webshop",
        "",
      ]);

      await name.fill("no name");
      await save.press("Enter");
      await page.locator("#main [role=alert]").first().waitFor();
      expect(await name.inputValue()).toBe("no name");
    });
  });
});
