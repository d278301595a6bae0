import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { inBrowser } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";
import { signInHere } from "./support/sign-in.ts";

let tux: Person;
beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "phone");
});

const onPhone = (path: string, work: (page: Page) => Promise<void>) =>
  inBrowser(`${tux.ready.url}/sign_in`, async (page) => {
    await signInHere(page, tux);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(tux.ready.url + path);
    await work(page);
  });

describe("a phone", () => {
  it("shows the whole line for a shell", async () => {
    await onPhone("/account", async (page) => {
      const hidden = await page.evaluate(() => {
        const block = document.querySelector("#curl-line")?.parentElement;
        return block ? block.scrollWidth - block.clientWidth : undefined;
      });
      expect(hidden).toBe(0);
    });
  });

  it("shows a row of a table as a card, its labels paler than its values", async () => {
    await onPhone("/account/audit_log", async (page) => {
      const [row, label, value] = await page.evaluate(() => {
        const cell = document.querySelector("td[data-label]:not(:empty)");
        if (!cell) return [];
        cell.classList.remove("quiet");
        const colour = (pseudo?: string) => getComputedStyle(cell, pseudo).color;
        return [getComputedStyle(cell).display, colour("::before"), colour()];
      });
      expect(row).toBe("block");
      expect(label).not.toBe(value);
    });
  });
});
