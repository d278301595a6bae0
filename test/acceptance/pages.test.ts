import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { accountPages, appliancePages, openPages } from "./support/account-pages.ts";
import { openAndWeigh } from "./support/page-weight.ts";
import { inBrowser } from "./support/page.ts";
import { diagonal, faultsOf, views } from "./support/page-faults.ts";
import { newPerson, type Person } from "./support/person.ts";
import { makeOperator, sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";
import { findAndClone, follow, makeAndPublish, press, result } from "./support/without-scripts.ts";

// Tests of the pages in a browser: axe finds no fault, no page scrolls sideways, scripts replace parts of a page, and
// everything also works without scripts.

const name = "Radio astronomy reduction workstation for the summer school, with sample data";

let tux: Person;
let visitor: Person;
let applianceId: string;
beforeAll(async () => {
  const service = await sharedService("with-agent");
  [tux, visitor] = [await newPerson(service, "pages"), await newPerson(service, "pages-visitor")];
  await makeOperator(service, "pages");
  applianceId = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64", name })).appliance.id;
  const { build } = await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId });
  await tux.rest.watchBuild(build.id, 300);
  const headers = { "content-type": "application/xml" };
  await tux.send("PUT", `/appliances/${applianceId}/configuration`, { body: lists, headers });
  await tux.say("POST", `/gallery/appliances/${applianceId}/version/0.0.1`, "The first version.");
  await tux.say("POST", `/gallery/appliances/${applianceId}/comments`, "Works on the old desks, too.");
  const broken = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" })).appliance.id;
  await tux.rest.call("POST", `/appliances/${broken}/cmd/add_package`, { name: "no-such-package" });
});

const lists = `<configuration>
  <eulas><eula>Books stay here.</eula></eulas>
  <databases><database><type>pgsql</type><users><user><username>loans</username><password>x</password></user></users>
  </database><database><type>mysql</type></database></databases>
  <autostarts><autostart><command>/usr/bin/counterd</command></autostart></autostarts></configuration>`;

async function signIn(page: Page): Promise<void> {
  await page.goto(`${tux.ready.url}/sign_in`);
  await signInHere(page, tux);
}

describe("the pages", () => {
  it("have no fault that axe knows, in both themes, wide and narrow, and weigh at most 35 kB with an empty cache", async () => {
    const atFirst = [...openPages, "/sign_in", "/nothing-here", `/gallery/${applianceId}`];
    const signedIn = [...accountPages, `/gallery/${applianceId}/0.0.1`];
    const ofAppliance = appliancePages.map((tab) => `/appliance/${applianceId}${tab}`);
    const weights = new Map<string, number>();
    const faults = await inBrowser(tux.ready.url, async (page) => {
      const found: string[] = [];
      const look = async (path: string, seenIn = views) => {
        for (const { colorScheme, width } of seenIn) {
          // No motion, so that no colour is in transition.
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.setViewportSize({ width, height: 800 });
          found.push(...(await faultsOf(page)).map((fault) => `${path} ${colorScheme} ${width}: ${fault}`));
        }
      };
      const open = async (path: string, seenIn = views) => {
        const bytes = await openAndWeigh(page, tux.ready.url + path);
        if (bytes !== undefined) weights.set(path, bytes);
        await look(path, seenIn);
      };
      // axe needs seconds of processor time for the lists of calls.
      for (const path of atFirst) await open(path, path.startsWith("/api/docs") ? diagonal : views);
      await signIn(page);
      for (const path of signedIn) await open(path);
      for (const path of ofAppliance) await open(path, path.endsWith(applianceId) ? views : diagonal);
      const { build } = await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId, force: "true" });
      const running = `/appliance/${applianceId}/build`;
      await page.goto(tux.ready.url + running);
      await page.locator(".log li").first().waitFor({ state: "attached" }); // it is folded
      await look(running, diagonal);
      await tux.rest.call("DELETE", `/running_builds/${build.id}`);
      return found;
    });
    expect(faults).toEqual([]);
    const found = [...atFirst, ...signedIn, ...ofAppliance].filter((path) => path !== "/nothing-here");
    expect([...weights.keys()]).toEqual(found);
    expect([...weights].filter(([, bytes]) => bytes > 35_000)).toEqual([]);
  });

  it("find while someone types, without loading the page again", async () => {
    await inBrowser(tux.ready.url, async (page) => {
      await signIn(page);
      await page.goto(`${tux.ready.url}/appliances`);
      await page.evaluate(() => Reflect.set(window, "same", true));
      await page.getByLabel("Search my appliances").pressSequentially("radio");
      await page.waitForURL(/search=radio/);
      await expect.poll(() => page.locator(".appliances > li").count()).toBe(1);
      expect(await page.evaluate(() => Reflect.get(window, "same"))).toBe(true);
      expect(await page.getByLabel("Search my appliances").inputValue()).toBe("radio");
    });
  });

  it("keep the focus at a package that is added and removed, and move nothing", async () => {
    const shelf = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64", name: "Shelf" }))
      .appliance;
    await inBrowser(tux.ready.url, async (page) => {
      await signIn(page);
      await page.goto(`${tux.ready.url}/appliance/${shelf.id}/software?q=hello`);
      await page.evaluate(() => Reflect.set(window, "same", true));
      const hit = page.locator("#hit-package-hello");
      const place = async () => (await hit.boundingBox())?.y;
      const before = await place();
      await hit.getByRole("button", { name: "Add hello", exact: true }).focus();
      await page.keyboard.press("Enter");
      await result(page, /^hello is added/);
      const focused = page.locator(":focus");
      expect((await focused.innerText()).trim()).toMatch(/^Remove/);
      expect(await place()).toBe(before);
      await page.keyboard.press("Enter");
      await result(page, /^hello is removed/);
      expect((await focused.innerText()).trim()).toMatch(/^Add/);
      expect(await page.evaluate(() => Reflect.get(window, "same"))).toBe(true);
    });
    await tux.rest.call("DELETE", `/appliances/${shelf.id}`);
  });

  it("filter the list when another state is chosen, and keep what is checked in it", async () => {
    await inBrowser(tux.ready.url, async (page) => {
      await signIn(page);
      await page.goto(`${tux.ready.url}/appliances`);
      await page.evaluate(() => Reflect.set(window, "same", true));
      const rows = page.locator(".appliances > li");
      await expect.poll(() => rows.count()).toBeGreaterThan(1);
      await page.getByLabel(`Choose ${name}`, { exact: true }).check();
      await page.getByLabel("Order").selectOption("name");
      await page.waitForURL(/order=name/);
      expect(await page.getByLabel(`Choose ${name}`, { exact: true }).isChecked()).toBe(true);
      await page.getByLabel("State").selectOption("error");
      await page.waitForURL(/state=error/);
      await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("Cannot be built")]);
      expect(await page.evaluate(() => Reflect.get(window, "same"))).toBe(true);
      await page.getByRole("link", { name: "Choose all of this page" }).click();
      await press(page, "Delete …");
      await page.getByRole("heading", { name: /^Delete .*\?$/, level: 1 }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
    });
  });

  it("delete several appliances after a question, without scripts", async () => {
    const names = ["First of two", "Second of two"];
    for (const each of names) await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64", name: each });
    const work = async (page: Page) => {
      await signIn(page);
      await page.goto(`${tux.ready.url}/appliances?search=of+two`);
      await page.getByLabel("State").selectOption("running");
      await press(page, "Show");
      await page.getByText("Nothing found for “of two”").waitFor();
      await page.goBack();
      for (const each of names) await page.getByLabel(`Choose ${each}`).check();
      await press(page, "Delete …");
      await page.getByRole("heading", { name: "Delete 2 appliances?" }).waitFor();
      await follow(page, "Keep them");
      await page.getByRole("link", { name: "Second of two" }).waitFor();
      for (const each of names) await page.getByLabel(`Choose ${each}`).check();
      await press(page, "Delete …");
      await press(page, "Delete 2 appliances");
      await result(page, "2 appliances deleted.");
      expect(await page.getByRole("link", { name: "of two" }).count()).toBe(0);
    };
    await inBrowser(tux.ready.url, work, { javaScriptEnabled: false });
  });

  it("have shortcuts, which wait while someone types, and can be turned off", async () => {
    await inBrowser(tux.ready.url, async (page) => {
      await signIn(page);
      const title = () => page.getByRole("heading", { level: 1 }).innerText();
      const shown = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      // The script has shown this button, so it also handles the keys now.
      const hears = () => page.getByRole("button", { name: "Shortcuts" }).waitFor();
      await hears();
      // A busy browser may take too long between the two keys.
      const goes = async () => {
        await page.keyboard.press("g");
        await page.keyboard.press("a");
        return title();
      };
      await expect.poll(goes).toContain("My appliances");
      await hears();
      await page.keyboard.press("/");
      await page.keyboard.type("g g?");
      expect(await page.getByLabel("Search my appliances").inputValue()).toBe("g g?");
      expect(await shown.isVisible()).toBe(false);
      await page.goto(`${tux.ready.url}/help`);
      await hears();
      await page.keyboard.press("?");
      await shown.getByText("My appliances").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await shown.getByRole("switch").uncheck();
      await page.keyboard.press("Escape");
      await page.reload();
      await hears();
      await page.keyboard.press("?");
      expect(await shown.isVisible()).toBe(false);
      await page.getByRole("button", { name: "Shortcuts" }).click();
      expect(await shown.getByRole("switch").isChecked()).toBe(false);
    });
  });

  it("find a call of the API while someone types, and copy its line for the shell", async () => {
    await inBrowser(tux.ready.url, async (page) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await signIn(page);
      await page.goto(`${tux.ready.url}/api/docs`);
      const search = page.getByLabel("Search the calls");
      await search.pressSequentially("delete token");
      const shown = page.locator("#call-list > li:visible");
      await expect.poll(() => shown.allInnerTexts()).toEqual([expect.stringContaining("DELETE /tokens/")]);
      await search.press("Enter");
      await page.waitForURL(/\/api\/docs\/tokens#revokeToken$/);
      await page.locator("#revokeToken").getByRole("button", { name: "Copy" }).first().click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toMatch(new RegExp(`^curl .*-X DELETE .*${tux.ready.url}/api/v2/user/tokens/`, "s"));
      await page.goBack();
      await search.fill("no call is called this");
      await page.getByText("No call has these words.").waitFor();
    });
  });

  it("do the same without scripts, on a phone", async () => {
    const work = async (page: Page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await signIn(page);
      await makeAndPublish(page, tux.ready.url, applianceId);
      await page.getByRole("button", { name: tux.ready.username, exact: true }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await findAndClone(page, visitor, name);
    };
    await inBrowser(tux.ready.url, work, { javaScriptEnabled: false });

    const [clone] = [(await visitor.rest.call("GET", "/appliances")).appliances.appliance].flat();
    expect(clone).toMatchObject({ name: `${visitor.ready.username}'s ${name}` });
  });

  it("remember the colours that are chosen", async () => {
    await inBrowser(tux.ready.url, async (page) => {
      const answered = page.waitForResponse(/preferences/);
      await page.getByLabel("Dark").check();
      await answered;
      await page.reload();
      expect(await page.getByLabel("Dark").isChecked()).toBe(true);
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
    });
  });
});
