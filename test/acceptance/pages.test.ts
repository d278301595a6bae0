import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { inBrowser } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { makeOperator, sharedService } from "./support/shared-service.ts";

// What only a browser can say of the pages: axe finds nothing, nothing scrolls sideways, and scripts replace parts of a page.

const name = "Radio astronomy reduction workstation for the summer school, with sample data";

let tux: Person;
let applianceId: string;
beforeAll(async () => {
  const service = await sharedService("with-agent");
  tux = await newPerson(service, "pages");
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

const open = ["/", "/api/docs", "/gallery?search=radio", "/sign_in", "/nothing-here"];
const own = [
  "/appliances",
  "/appliances/new",
  "/account",
  "/account/sessions",
  "/account/webhooks",
  "/account/audit_log",
  "/service",
  "/service/accounts",
];
const ofAppliance = [
  "/software?q=he",
  "/configuration/general",
  "/configuration/pictures",
  "/configuration/users",
  "/configuration/startup",
  "/configuration/keys",
  "/files",
  "/files/new",
  "/build",
  "/share",
];
const lists = `<configuration>
  <eulas><eula>Books stay here.</eula></eulas>
  <databases><database><type>pgsql</type><users><user><username>loans</username><password>x</password></user></users>
  </database><database><type>mysql</type></database></databases>
  <autostarts><autostart><command>/usr/bin/counterd</command></autostart></autostarts></configuration>`;
const views = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** Each theme and each width once. */
const diagonal = views.filter(({ colorScheme, width }) => (colorScheme === "dark") === (width === 390));

async function signIn(page: Page): Promise<void> {
  await page.goto(`${tux.ready.url}/sign_in`);
  await page.getByLabel("Account name").fill(tux.ready.username);
  await page.getByLabel("Password, or API key").fill(tux.ready.api_key);
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: tux.ready.username }).waitFor();
}

/** What axe finds on the page, and what reaches beyond it. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `(() => { const module = undefined; ${axe.source}; return axe.run(document); })()`,
  );
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const faults = found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html }) => html)
        .join(" ")
        .slice(0, 500)}`,
  );
  return tooWide > 0 ? [...faults, `${tooWide} pixels too wide`] : faults;
}

describe("the pages", () => {
  it("have no fault that axe knows, in both themes, wide and narrow", async () => {
    const faults = await inBrowser(tux.ready.url, async (page) => {
      const found: string[] = [];
      const look = async (path: string, seenIn = views, sign = "main") => {
        await page.goto(tux.ready.url + path);
        await page.locator(sign).first().waitFor();
        for (const { colorScheme, width } of seenIn) {
          // Without motion, so that no colour is on its way to another.
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.setViewportSize({ width, height: 800 });
          found.push(...(await faultsOf(page)).map((fault) => `${path} ${colorScheme} ${width}: ${fault}`));
        }
      };
      for (const path of [...open, `/gallery/${applianceId}`]) await look(path);
      await signIn(page);
      for (const path of [...own, `/appliance/${applianceId}`, `/gallery/${applianceId}/0.0.1`]) await look(path);
      for (const tab of ofAppliance) await look(`/appliance/${applianceId}${tab}`, diagonal);
      const { build } = await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId, force: "true" });
      await look(`/appliance/${applianceId}/build`, diagonal, ".log li");
      await tux.rest.call("DELETE", `/running_builds/${build.id}`);
      return found;
    });
    expect(faults).toEqual([]);
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
