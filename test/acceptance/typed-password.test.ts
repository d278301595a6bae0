import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { inBrowser } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";

let tux: Person;
let at: string;
beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "typed-password");
  const { appliance } = await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  at = `${tux.ready.url}/appliance/${appliance.id}/configuration/users`;
});

const onUsers = (work: (page: Page) => Promise<void>, options = {}) =>
  inBrowser(
    `${tux.ready.url}/sign_in`,
    async (page) => {
      await signInHere(page, tux);
      await page.goto(at);
      await work(page);
    },
    options,
  );

/** Fills in the form of a new user with a name that is refused. */
async function sendWrong(page: Page): Promise<string> {
  await page.locator("#new-entry-name").fill("No Name");
  await page.locator("#new-entry-password").fill("quiet please");
  const refused = page.waitForResponse((answer) => answer.request().method() === "POST" && answer.status() === 422);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const body = await (await refused).text();
  await page.locator("#new-entry [role=alert]").waitFor();
  return body;
}

it("stays in the field of a refused form, though no page contains it, and is gone once it is saved", async () => {
  await onUsers(async (page) => {
    const password = page.locator("#new-entry-password");
    expect(await sendWrong(page)).not.toContain("quiet please");
    expect(await password.inputValue()).toBe("quiet please");
    await page.locator("#new-entry-name").fill("keeper");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("keeper is saved.").waitFor();
    expect(await password.inputValue()).toBe("");
  });
  expect(
    await (
      await tux.send("GET", new URL(at).pathname.replace("/appliance/", "/appliances/").replace("/users", ""))
    ).text(),
  ).toContain("<password>quiet please</password>");
});

it("is asked for again without scripts", async () => {
  await onUsers(
    async (page) => {
      await sendWrong(page);
      expect(await page.locator("#new-entry-password").inputValue()).toBe("");
      expect(await page.locator("#new-entry-password-hint").innerText()).toContain("Enter it again");
    },
    { javaScriptEnabled: false },
  );
});

it("counts the unsaved fields of a refused form, and opens the part with the fault", async () => {
  await onUsers(async (page) => {
    const root = page.locator("details:has(> form)", { hasText: "root" }).first();
    await root.locator("> summary").click();
    await root.locator("[name=password]").fill("quieter please");
    await root.locator("details.more > summary").click();
    await root.locator("[name=shell]").fill("not a path");
    await root.locator("details.more > summary").click();
    await root.getByRole("button", { name: "Save", exact: false }).first().click();
    await root.locator("[role=alert]").waitFor();
    expect(await root.locator("[name=password]").inputValue()).toBe("quieter please");
    expect(await root.locator("[data-unsaved-count]").innerText()).toBe("2 unsaved changes");
    expect(await root.locator("[name=shell]").isVisible()).toBe(true);
  });
});
