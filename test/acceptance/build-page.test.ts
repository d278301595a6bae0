import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { inBrowser } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";

// A test of a build's page in a browser. The page follows the build to its end, notifies the user, and asks for
// confirmation before it repeats the build.

let tux: Person;
let applianceId: string;
beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "build-page");
  applianceId = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64", name: "Kiosk" })).appliance
    .id;
});

const press = (page: Page, name: string | RegExp) =>
  page.getByRole("main").getByRole("button", { name }).first().click();
const faultsOf = async (page: Page) =>
  await page.evaluate(async () =>
    (await (globalThis as unknown as { axe: typeof axe }).axe.run()).violations.map(({ id }) => id),
  );

/** Records each notification that the page shows. */
function noteNotifications(): void {
  const told: string[] = [];
  Object.assign(globalThis, { told });
  globalThis.Notification = new Proxy(Notification, {
    construct: (target, [title, options]: [string, NotificationOptions]) => {
      told.push(`${title}: ${options.body ?? ""}`);
      return new target(title, options);
    },
  });
}

describe("the page of a build", () => {
  it("follows a build to its end, announces the end, and has a log without folders of the builder", async () => {
    await inBrowser(`${tux.ready.url}/sign_in`, async (page) => {
      await signInHere(page, tux);
      await page.context().grantPermissions(["notifications"], { origin: tux.ready.url });
      await page.addInitScript(noteNotifications);
      await page.goto(`${tux.ready.url}/appliance/${applianceId}`);
      await press(page, "Build oem");
      await page.waitForFunction(() => /^[1-9]\d* % · Build/.test(document.title));
      await page.locator(".build-stages [aria-current]").waitFor();
      await page.locator("summary", { hasText: "Lines" }).click();
      await page.locator("#log-lines li", { hasText: "Kiln: Uploading the image" }).waitFor();
      const lines = await page.locator("#log-lines li").allInnerTexts();
      expect(lines.filter((line) => line.includes(tux.stateDir))).toEqual([]);

      await page.waitForFunction(() => document.title.startsWith("Finished · "));
      await page.locator("#ended").getByRole("link", { name: "Download" }).waitFor();
      await page.waitForFunction(() => (globalThis as unknown as { told: string[] }).told.length > 0);
      const told = await page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
      expect(told).toEqual([expect.stringMatching(/^Finished · Build · Kiosk: 0\.0\.1 oem is finished/)]);
      const findings = await page.locator("#findings li").allInnerTexts();
      expect(findings.join(" ")).not.toMatch(/mountpoint|chkstat|dracut|firstboot --|is protected/);

      await page.goto(page.url());
      await page.locator("#finished").getByRole("link", { name: "Log" }).first().click();
      await page.locator("#log-stages").getByRole("link", { name: "Image" }).click();
      await page.locator("#log-lines li:target", { hasText: "Creating the image" }).waitFor();
      await page.evaluate(axe.source);
      expect(await faultsOf(page)).toEqual([]);
    });
  });

  it("asks before it builds the same again, without scripts, too", async () => {
    const work = async (page: Page) => {
      await signInHere(page, tux);
      await page.goto(`${tux.ready.url}/appliance/${applianceId}/build`);
      await press(page, "Build oem");
      await page.locator("#unchanged", { hasText: "Nothing has changed since 0.0.1 oem" }).waitFor();
      await press(page, "Build 0.0.2 anyway");
      await page.locator("#running", { hasText: "0.0.2" }).waitFor();
      await press(page, "Cancel 0.0.2 oem");
      await page.locator("#finished", { hasText: "Cancelled" }).waitFor();
    };
    await inBrowser(`${tux.ready.url}/sign_in`, work, { javaScriptEnabled: false });
  });
});
