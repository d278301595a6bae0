import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { typeAsRoot } from "./support/at-screen.ts";
import { press, tabTo, write } from "./support/keyboard.ts";
import { inBrowser, litPixels, picture } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { runningService, until } from "./support/service.ts";
import { loginPrompt } from "./support/session.ts";
import { sharedService } from "./support/shared-service.ts";

// The whole story in a browser, by keyboard only, except next to a machine's screen, which receives every key.

/** By hand, on Debian: KILN_STORY_STATE is the state directory of a running `npm start`, KILN_STORY_TEMPLATE the name of a template. */
const { KILN_STORY_STATE: state, KILN_STORY_TEMPLATE: template } = process.env;
/**
 * The width of the window. A narrow window uses other account and appliance names, so that both widths can be tried on
 * one service.
 */
const width = Number(process.env["KILN_STORY_WIDTH"] ?? 1280);
const suffix = width === 1280 ? "" : `-${width}`;
/** The factor for the time limits of builds and boots. */
const patience = template === undefined ? 1 : 4;

const name = `Reading room kiosk${suffix}`;
const wanted = template === undefined ? "hello" : "nginx";

let ada: Person;
let grace: Person;
beforeAll(async () => {
  const service = state === undefined ? await sharedService("with-agent") : runningService(state);
  [ada, grace] = [await newPerson(service, `lovelace${suffix}`), await newPerson(service, `hopper${suffix}`)];
});

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const main = (page: Page) => page.getByRole("main");

async function signIn(page: Page, { ready }: Person): Promise<void> {
  await write(page, page.getByLabel("Account name"), ready.username);
  await write(page, page.getByLabel("Password, or API key"), ready.api_key);
  await page.keyboard.press("Enter");
  await button(page, ready.username).waitFor();
}

async function clone(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "My appliances", exact: true }));
  // There are no appliances yet, so this is the page that creates one.
  if (template !== undefined) await choose(page, template);
  await write(page, page.getByLabel("Name", { exact: true }), name);
  await picture(page, "new");
  await press(page, button(page, "Create appliance"));
  await page.getByText(`${name} is yours now.`).waitFor();
}

async function choose(page: Page, of: string): Promise<void> {
  await tabTo(page, page.locator("[name=clone_from]:checked"));
  const radio = page.getByRole("radio", { name: of });
  while (!(await radio.isChecked())) await page.keyboard.press("ArrowDown");
}

async function addPackage(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "Software", exact: true }).first());
  await write(page, page.getByRole("searchbox", { name: "Packages and patterns" }), wanted);
  // Each repository has a hit. The first one is the best.
  const add = button(page, `Add ${wanted}`).first();
  const hit = page.locator(".hits > li", { has: button(page, `Add ${wanted}`) }).first();
  await tabTo(page, add);
  await hit.locator(".effect", { hasText: /\+\d+ packages?, \+/ }).waitFor();
  await picture(page, "software");
  await page.keyboard.press("Enter");
  await page.locator("#result").getByText(`${wanted} is added`).waitFor();
  await button(page, `Remove ${wanted}`).first().waitFor();
}

/** Presses *Build*, and stays on the page until the image exists. Returns the percentages that the page showed. */
async function build(page: Page): Promise<number[]> {
  await press(page, button(page, "Build oem"));
  return await watchBuild(page, 1);
}

async function watchBuild(page: Page, images: number): Promise<number[]> {
  const finished = page.locator(`#finished .builds .rows > li:nth-child(${images})`);
  await page.locator("progress").first().waitFor();
  await page.evaluate(() => {
    const seen: number[] = [];
    const look = () => document.querySelectorAll("progress").forEach(({ value }) => seen.push(value));
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    Object.assign(window, { seen });
  });
  await page.locator(".log li").first().waitFor({ state: "attached" }); // it is folded
  await picture(page, "build");
  await finished.waitFor({ state: "attached", timeout: patience * 300_000 });
  return await page.evaluate<number[]>("seen");
}

/** Boots the newest image to its login prompt, and types into its console. */
async function testdrive(page: Page): Promise<void> {
  await press(
    page,
    page
      .locator("#finished")
      .getByRole("button", { name: /^Testdrive/ })
      .first(),
  );
  await page.waitForURL(/\/testdrive\/\d+\//);
  await page.getByText("Connected", { exact: true }).first().waitFor();
  const serial = join(ada.stateDir, "agent/testdrives", idIn(page), "serial.log");
  await until(
    "the machine asks for a login",
    patience * 400,
    () => existsSync(serial) && asksForLogin(readText(serial)),
  );
  await until("what was typed is on the screen", 120, async () => {
    const before = await litPixels(page);
    await page.keyboard.type("kiln");
    // The boot may clear the screen in between, so this types the text again.
    return await until("letters", 3, async () => (await litPixels(page)) > before + 40).catch(() => false);
  });
  await picture(page, "testdrive");
  await leaveAndReturn(page);
  await page.keyboard.press("Control+U");
}

/** A very slow machine gives up its serial console. Then systemd reports that the password prompt is on the screen. */
const asksForLogin = (serial: string): boolean =>
  loginPrompt.test(serial) || /Reached target .*Login Prompts/.test(serial);

/** Whether it has the focus. */
const isAt = (target: Locator) => target.evaluate((element) => element === document.activeElement);

/**
 * The screen does not trap the keyboard: it receives Tab, and has its own keys to leave it. Later typing shows that no
 * key is stuck.
 */
async function leaveAndReturn(page: Page): Promise<void> {
  const screen = page.locator("canvas");
  await page.keyboard.press("Tab");
  expect(await isAt(screen)).toBe(true);
  await page.keyboard.press("Control+Alt+Shift");
  expect(await isAt(button(page, "Ctrl-Alt-Del"))).toBe(true);
  await page.keyboard.press("Tab");
  expect(await isAt(button(page, "Send text"))).toBe(true);
  await page.keyboard.press("Control+Alt+Shift");
  expect(await isAt(screen)).toBe(true);
}

const idIn = (page: Page): string => /\/testdrive\/(\d+)\//.exec(page.url())?.[1] ?? "";
const readText = (file: string) => readFileSync(file, "utf8").replaceAll("\r", "");

/** Whether the page shows it, once the page has its fetched content. */
const appears = (target: Locator) =>
  target.waitFor({ timeout: 5_000 }).then(
    () => true,
    () => false,
  );

/** Changes a file in the machine, and stores the change with the drawer. */
async function keepAndRebuild(page: Page): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  const keyboard = { type: (text: string) => page.keyboard.type(text) };
  const drawer = page.getByRole("complementary", { name: /^Modified files/ });
  const changed = drawer.getByRole("checkbox", { name: "/etc/motd", exact: true });
  await typeAsRoot(keyboard, "cp /proc/version /etc/motd; sync", async () => {
    const again = drawer.getByRole("link", { name: "Read again" });
    const answered = page.waitForResponse(/panel=files/);
    await ((await again.isVisible()) ? again : page.getByRole("link", { name: "Modified files" })).click();
    await (await answered).finished();
    const isThere = await appears(changed);
    if (!isThere) await page.locator("canvas").click();
    return isThere;
  });
  // Files that the machine itself has written, and its secrets, are not selected.
  expect([await changed.isChecked(), await drawer.locator("input:checked").count()]).toEqual([true, 1]);
  await picture(page, "drawer");
  expect(await pageScrolls(page)).toBe(false);
  await press(page, drawer.getByRole("button", { name: /^Keep 1 \(.*\) and rebuild$/ }));
  const kept = page.getByText("1 file is kept in the appliance. The build has started.");
  await kept.waitFor();
  await page.locator(".log li").first().waitFor({ state: "attached" }); // it is folded
  // The page has refreshed itself by now, and still shows the message.
  expect(await kept.isVisible()).toBe(true);
  await fetch(`${origin}${pathname}/stop`, { method: "POST" });
}

/** Whether the page itself scrolls when the drawer has more files than fit. */
const pageScrolls = (page: Page): Promise<boolean> =>
  page.locator(".files li", { hasText: "/etc/motd" }).evaluate((row) => {
    const more = Array.from({ length: 40 }, () => row.cloneNode(true) as Element);
    row.after(...more);
    const scrolls = document.documentElement.scrollHeight > window.innerHeight;
    for (const each of more) each.remove();
    return scrolls;
  });

async function publish(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "Share", exact: true }));
  await picture(page, "share");
  await press(page, main(page).getByRole("button", { name: /^Publish \d/ }));
  await page
    .getByRole("region", { name: /^In the gallery/ })
    .getByRole("link")
    .waitFor();
}

async function signOut(page: Page): Promise<void> {
  await press(page, button(page, ada.ready.username));
  await press(page, button(page, "Sign out"));
  await page.getByRole("link", { name: "Sign in", exact: true }).first().waitFor();
}

/** Opens the page while signed out, and returns to it after signing in. */
async function findAndSignIn(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "Gallery", exact: true }));
  await page.getByRole("link", { name, exact: true }).waitFor();
  await picture(page, "gallery");
  await write(page, page.getByRole("searchbox"), "reading");
  await page.keyboard.press("Enter");
  await press(page, main(page).getByRole("link", { name, exact: true }));
  await page.getByRole("heading", { name, level: 1 }).waitFor();
  await press(page, main(page).getByRole("link", { name: "Clone", exact: true }));
  await signIn(page, grace);
  await page.getByText("Press Clone to make it yours.").waitFor();
}

async function rateAndComment(page: Page): Promise<void> {
  await tabTo(page, page.getByRole("radio", { name: "1 star", exact: true }));
  for (const key of ["Space", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await press(page, button(page, "Rate"));
  await page.getByText("Your rating is counted.").waitFor();
  await page.getByText("of 5 by 1 person").first().waitFor({ state: "attached" });
  await write(page, page.getByLabel("Write a comment"), "It greets me.");
  await press(page, button(page, "Send"));
  await page.locator("#comments").getByText("It greets me.").waitFor();
  await picture(page, "published");
}

async function tryAndStop(page: Page): Promise<void> {
  await press(page, button(page, "Try it"));
  await page.getByText("Connected", { exact: true }).first().waitFor();
  await button(page, "Stop").click();
  await button(page, "Really stop?").click();
  await page.getByRole("link", { name: "Back to the appliance" }).click();
}

describe("the story", () => {
  it(
    "is done from signing in to a clone of another account",
    async () => {
      const percents = await inBrowser(`${ada.ready.url}/sign_in`, async (page) => {
        await page.setViewportSize({ width, height: width < 600 ? 844 : 800 });
        await signIn(page, ada);
        await clone(page);
        await addPackage(page);
        const seen = await build(page);
        await testdrive(page);
        await keepAndRebuild(page);
        await watchBuild(page, 2);
        await publish(page);
        await signOut(page);
        await findAndSignIn(page);
        await rateAndComment(page);
        await tryAndStop(page);
        await press(page, main(page).getByRole("button", { name: "Clone", exact: true }));
        await page.getByText(`${name} is yours now.`).waitFor();
        return seen;
      });

      expect(new Set(percents).size).toBeGreaterThan(1);
      expect(percents).toEqual(percents.toSorted((left, right) => left - right));
      const [mine] = [(await grace.rest.call("GET", "/appliances")).appliances.appliance].flat();
      const { files } = await grace.rest.call("GET", "/files", { appliance_id: mine.id });
      expect([files.file].flat().map(({ filename }) => filename)).toEqual(["motd"]);
    },
    patience * 1_200_000,
  );
});
