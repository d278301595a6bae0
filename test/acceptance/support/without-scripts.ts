/** A person's actions on the pages, which work without scripts. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Person } from "./person.ts";
import { signInHere } from "./sign-in.ts";

export const press = (page: Page, name: string) =>
  page.getByRole("main").getByRole("button", { name, exact: true }).first().click();
export const follow = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).first().click();
export const result = (page: Page, text: string | RegExp) => page.locator("#result").getByText(text).waitFor();

/** Creates an appliance from a template, builds it, and publishes it in the gallery. */
export async function makeAndPublish(page: Page, url: string, applianceId: string): Promise<void> {
  await page.goto(`${url}/appliances/new`);
  await page.getByLabel("Name", { exact: true }).fill("Without scripts");
  await press(page, "Create appliance");
  await result(page, "Without scripts is yours now.");
  await follow(page, "Configuration");
  await follow(page, "Network and firewall");
  await page.getByLabel("Host name").fill("reading-room");
  await press(page, "Save");
  await result(page, /saved/);
  expect(await page.getByLabel("Host name").inputValue()).toBe("reading-room");
  await follow(page, "Software");
  await page.getByRole("searchbox", { name: "Packages and patterns" }).fill("hello");
  await press(page, "Search");
  await follow(page, "Effect of hello");
  await page
    .locator(".hits .effect", { hasText: /\+\d+ packages?, \+/ })
    .first()
    .waitFor();
  await press(page, "Add hello");
  await result(page, /^hello is added/);
  await press(page, "Build oem");
  await result(page, "The build of oem has started.");
  await page.locator("#running article").getByRole("button", { name: "Cancel" }).click();
  await result(page, "The build is cancelled.");
  await page.goto(`${url}/appliance/${applianceId}/share`);
  await press(page, "Unpublish … 0.0.1");
  await page.locator("#unpublish-0-0-1").getByRole("button", { name: "Unpublish 0.0.1" }).click();
  await page.getByLabel("Release notes of 0.0.1").fill("The first version, once more.");
  await press(page, "Publish 0.0.1");
  await page
    .getByRole("region", { name: /^In the gallery/ })
    .getByRole("link", { name: "0.0.1" })
    .waitFor();
}

/** Another account finds it while signed out, and then rates, comments and clones it. */
export async function findAndClone(page: Page, visitor: Person, name: string): Promise<void> {
  await follow(page, "Gallery");
  await page.getByRole("searchbox").fill("radio");
  await press(page, "Search");
  await page.getByRole("main").getByRole("link", { name, exact: true }).click();
  await page.getByText("The first version, once more.").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Clone", exact: true }).click();
  await signInHere(page, visitor);
  // The radio button itself is not visible: a person clicks the star.
  await page.locator(".rate label").nth(3).click();
  await press(page, "Rate");
  await result(page, "Your rating is counted.");
  await page.getByLabel("Write a comment").fill("Found without scripts.");
  await press(page, "Send");
  await page.locator("#comments").getByText("Found without scripts.").waitFor();
  await press(page, "Clone");
  await result(page, `${name} is yours now.`);
}
