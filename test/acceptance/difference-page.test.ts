import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { inBrowser, picture } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";

let tux: Person;
let page: string;
beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "difference");
  const { id } = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" })).appliance;
  const motd = { path: "/etc", filename: "motd" };
  await tux.addFile(id, "Welcome\nOpen until five\n", motd);
  const built = async () => {
    const { build } = await tux.rest.call("POST", "/running_builds", { appliance_id: id });
    await tux.rest.watchBuild(build.id, 300);
    return build.id;
  };
  const add = (software: Record<string, string>) =>
    tux.rest.call("POST", `/appliances/${id}/cmd/add_package`, software);
  await add({ name: "hello", version: "1.0-1" });
  const first = await built();
  await add({ name: "hello", version: "1.1-1" });
  await add({ name: "hello-docs" });
  await tux.addFile(id, "Welcome\nOpen until six\n", motd);
  page = `/appliance/${id}/difference/${first}/${await built()}`;
});

const onPage = (width: number, work: (page: Page) => Promise<void>) =>
  inBrowser(`${tux.ready.url}/sign_in`, async (opened) => {
    await signInHere(opened, tux);
    await opened.setViewportSize({ width, height: 844 });
    await opened.goto(tux.ready.url + page);
    await picture(opened, `difference-${width}`);
    await work(opened);
  });

const colour = (element: Element) => getComputedStyle(element).backgroundColor;

describe("the difference between two versions", () => {
  it("has counts, packages with their versions, megabytes, and the lines of a file in colours", async () => {
    await onPage(1280, async (opened) => {
      const counts = await opened.locator(".differences").innerText();
      expect(counts).toMatch(/Packages\s+\+1\s+−0, [12] changed/i);
      expect(counts).toMatch(/Disk\s+same\s+537 MB/i);
      const rowOf = (name: string) =>
        opened
          .locator("[aria-labelledby=packages] tr")
          .filter({ has: opened.getByRole("rowheader", { name, exact: true }) })
          .innerText();
      expect(await rowOf("hello")).toMatch(/~ changed\s+hello\s+1\.0-1\s+1\.1-1\s/);
      expect(await rowOf("hello-docs")).toMatch(/\+ added\s+hello-docs\s+1\.0-1\s/);
      const lines = ["ins", "del", "span"].map((tag) => opened.locator(`pre.diff ${tag}`).first());
      expect(await Promise.all(lines.map((line) => line.innerText()))).toEqual([
        "Open until six",
        "Open until five",
        "Welcome",
      ]);
      const colours = await Promise.all(lines.map((line) => line.evaluate(colour)));
      expect(new Set(colours).size).toBe(3);
    });
  });

  it("has nothing wider than a phone", async () => {
    await onPage(390, async (opened) => {
      const tooWide = await opened.evaluate(() =>
        [...document.querySelectorAll("main *")]
          // The lines of the difference scroll in their box.
          .filter((element) => !element.matches("pre.diff *"))
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.outerHTML.slice(0, 100)),
      );
      expect(tooWide).toEqual([]);
      expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    });
  });
});
