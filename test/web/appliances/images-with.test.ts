/** The page that finds images by a package. */
import { expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { takeChores } from "../../support/sweep.ts";

it("lists the images that have a package", async () => {
  const tux = await signedIn();
  const installed = [{ name: "hello", version: "2.10", release: "3", arch: "x86_64" }];
  const { applianceId } = await createBuild(tux, undefined, { installed });
  await takeChores([{ body: { chore: "listInstalledPackages", at: Date.now() } }]);
  const firefox = browser();
  await firefox.signIn(tux);

  const page = await pageOf(firefox.get("/appliances/images?with=hello%3D2.10-3"));
  expect(textOf(page, "tbody")).toContain("hello 2.10-3");
  expect(page.querySelector("tbody a")?.getAttribute("href")).toBe(`/appliance/${applianceId}/build`);
  const none = await pageOf(firefox.get("/appliances/images?with=%3Csvg%3E"));
  expect(textOf(none, "main")).toContain("No image has <svg>");
  expect(none.querySelector("table")).toBeNull();
});
