/** Searches on the software page in repositories with several versions of a package, and conflicts. */
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { loadDebian } from "../../support/debian.ts";
import { createAppliance } from "../../support/factories.ts";
import { pageOf, textOf, type Element } from "../../support/html.ts";

let firefox: ReturnType<typeof browser>;
let id: number;
beforeEach(async () => {
  const tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
  await createAppliance(tux); // loads the templates
  await loadDebian();
  id = await createAppliance(tux, { clone_from: 900 });
});

type Page = Awaited<ReturnType<typeof pageOf>>;

const software = async (query = "") => await pageOf(firefox.get(`/appliance/${id}/software${query}`));
const send = async (form: Record<string, string>, query = "?q=apache") =>
  await firefox.post(
    `/appliance/${id}/software`,
    { form_token: await firefox.formToken(), ...form },
    { referer: `https://kiln.test/appliance/${id}/software${query}` },
  );
/** The page that a form redirects to. */
const after = async (form: Record<string, string>, query?: string) => {
  const { pathname, search } = new URL((await send(form, query)).headers.get("location") ?? "");
  return await pageOf(firefox.get(pathname + search));
};
const rows = (page: Page) => [...page.querySelectorAll("#hits > li")];
const nameOf = (row: Element) => textOf(row, ".name");

const focused = (page: Page) => [...page.querySelectorAll("main [autofocus]")].map((one) => one.textContent?.trim());

describe("a search", () => {
  it("shows each name once, with the version that would be installed, and the others behind it", async () => {
    const page = await software("?q=apache");

    expect(rows(page).map(nameOf)).toEqual(["apache2"]);
    const [apache] = rows(page);
    if (!apache) throw new Error("apache2 is not found");
    expect(textOf(apache, ".num")).toBe("2.4.65-1~deb12u1");
    expect(textOf(apache, ".badge")).toBe("security");
    expect(textOf(apache, "details summary")).toBe("1 other version");
    expect(textOf(apache, "details li")).toContain("2.4.62-1~deb12u2 · Debian Test");
    expect(textOf(page, "#found")).toBe("1 found in 2 repositories");
  });

  it("names the version that is installed, whole", async () => {
    await send({ do: "add", kind: "package", name: "apache2" });
    const page = await software("?q=apache");
    expect(textOf(page, "section[aria-labelledby=chosen] li .num")).toBe("2.4.65-1~deb12u1");

    await send({ do: "add", kind: "package", name: "apache2", version: "2.4.62-1~deb12u2" });
    const pinned = await software("?q=apache");
    expect(textOf(pinned, "section[aria-labelledby=chosen] li .num")).toBe("2.4.62-1~deb12u2");
    expect(textOf(pinned, "#hits .num")).toBe("2.4.62-1~deb12u2");
    expect(pinned.querySelector("#hits > li > div > .badge")).toBeNull();
  });

  it("puts the whole name first, then its beginning, then what contains it", async () => {
    expect(rows(await software("?q=dracut")).map(nameOf)).toEqual(["dracut"]);
    expect(rows(await software("?q=web-server")).map(nameOf)).toEqual(["pattern: task-web-server"]);
    const names = rows(await software("?q=a")).map(nameOf);
    expect(names[0]).toBe("apache2");
    expect(names.length).toBeGreaterThan(3);
    expect(new Set(names).size).toBe(names.length);
  });

  it("shows more hits when asked", async () => {
    const first = await software("?q=a&most=2");
    expect(rows(first)).toHaveLength(2);
    const more = first.querySelector("#more a")?.getAttribute("href") ?? "";
    expect(textOf(first, "#more")).toMatch(/^The best 2 of \d+ Show \d+ more/);
    const all = await pageOf(firefox.get(more));
    expect(rows(all).length).toBeGreaterThan(2);
    expect(all.querySelector("#more a")).toBeNull();
  });

  it("shows what a hit changes, before and after, and what a selected one has brought", async () => {
    const looked = await software("?q=apache&look=apache2");
    expect(textOf(looked, "#hits .before-after")).toMatch(/^Packages(\d+) → \d+/);
    expect(textOf(looked, "#hits")).toMatch(/1 package would be added/);
    const [, before, now] = /Packages(\d+) → (\d+)/.exec(textOf(looked, "#hits .before-after")) ?? [];
    expect(Number(now)).toBe(Number(before) + 1);
    const shown = [...looked.querySelectorAll("#hits .before-after dt")].map((term) => term.textContent);
    expect(shown).toEqual(["Packages", "Software", "Package files"]);

    await send({ do: "add", kind: "package", name: "apache2" });
    const added = await software("?q=apache&look=apache2");
    expect(textOf(added, "#hits .before-after")).toContain(`Packages${before} → ${now}`);
    expect(textOf(added, "#hits")).toMatch(/1 package came with it/);
    expect(textOf(added, "#size")).toContain(`Packages${now} +1`);
  });
});

describe("the focus", () => {
  it("stays at the hit that was added or removed, also without scripts", async () => {
    const added = await after({ do: "add", kind: "package", name: "apache2" });
    expect(focused(added)).toEqual([expect.stringContaining("Remove apache2")]);
    const removed = await after({ do: "remove", kind: "package", name: "apache2" }, "?q=apache&look=apache2");
    expect(focused(removed)).toEqual([expect.stringContaining("Add apache2")]);
  });

  it("goes to the list of the selection when a row of it is gone", async () => {
    await send({ do: "add", kind: "package", name: "apache2" });
    const removed = await after({ do: "remove", kind: "package", name: "apache2", at: "chosen" });
    expect(focused(removed)).toEqual([expect.stringContaining("Selected")]);
  });
});

describe("a conflict", () => {
  it("is said once, in terms of what was banned, and never under a green banner", async () => {
    const banned = await after({ do: "add", kind: "ban", name: "apache2" });
    expect(banned.querySelector("#conflicts p")).toBeNull();
    const page = await after({ do: "add", kind: "package", name: "apache2" });

    expect(textOf(page, "#conflicts p")).toBe("You banned apache2, which apache2 needs.");
    expect(page.querySelectorAll("[data-tone=bad].notice")).toHaveLength(1);
    expect(textOf(page, "#problems")).not.toContain("apache2");
    expect(page.querySelector("#result .notice")?.getAttribute("data-tone")).toBe("warn");
    const ways = [...page.querySelectorAll("#conflicts button")].map(({ textContent }) => textContent?.trim());
    expect(ways.toSorted()).toEqual(["Allow apache2", "Remove apache2"]);

    const overview = await pageOf(firefox.get(`/appliance/${id}`));
    expect(textOf(overview, "#problems")).toContain("You banned apache2, which apache2 needs.");
    expect(textOf(overview, "#problems")).toContain("See the solutions");
  });

  it("names what needs a banned package", async () => {
    await send({ do: "add", kind: "ban", name: "base-files" });
    const page = await software();
    expect(textOf(page, "#conflicts p")).toMatch(/^You banned base-files, which .* needs?\.$/);
  });
});
