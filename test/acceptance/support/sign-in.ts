import type { Page } from "playwright-core";
import type { Person } from "./person.ts";

/** Fills in the sign-in form that the page shows. */
export async function signInHere(page: Page, { ready }: Pick<Person, "ready">): Promise<void> {
  await page.getByLabel("Account name").fill(ready.username);
  await page.getByLabel("Password, or API key").fill(ready.api_key);
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: ready.username, exact: true }).waitFor();
}
