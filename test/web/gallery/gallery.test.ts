/** The gallery's list, which is the front page. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, visit, type Client } from "../../support/client.ts";
import { galleryPath, publishedAppliance } from "../../support/gallery.ts";
import { pageOf, textOf } from "../../support/html.ts";

let publisher: Client;
let applianceId: number;
beforeAll(async () => {
  publisher = await signedIn();
  const configuration = "<description>One screen &lt;b>no login&lt;/b></description><tags><tag>library</tag></tags>";
  ({ applianceId } = await publishedAppliance(publisher, { configuration }));
});

describe("the front page", () => {
  it("shows what Kiln is, shows what is published, and leads to the API", async () => {
    const answer = await visit("/");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await pageOf(answer);
    expect(textOf(page, "h1")).toBe("Appliances, baked to order");
    const card = page.querySelector(".card");
    expect(card && textOf(card, "h3")).toBe("Kiosk");
    expect(card && textOf(card, ".what")).toBe("One screen <b>no login</b>");
    expect(card && textOf(card, ".badge.type")).toBe("oem");
    expect(card && textOf(card, ".meta .push")).toMatch(/^Download:\s*\d+ bytes$/);
    expect(textOf(page, "[aria-labelledby=shell]")).toContain("https://kiln.test/api/v2/user");
    expect(page.querySelector('[href="/user/show_api_key"]')).not.toBeNull();
  });

  it("asks those who are not signed in to sign in before they try or clone, and brings them back", async () => {
    const page = await pageOf(visit("/"));
    const links = [...page.querySelectorAll(".card .foot-row a")].map((link) => link.getAttribute("href"));
    const to = (then: string) =>
      `/sign_in?${new URLSearchParams({ to: `/gallery/${applianceId}/0.0.1?then=${then}` })}`;
    expect(links).toEqual([to("try"), to("clone")]);
    const firefox = browser();
    const answer = await firefox.signIn(publisher, "correct horse", { to: `/gallery/${applianceId}/0.0.1?then=clone` });
    const after = await pageOf(
      firefox.get(new URL(answer.headers.get("location") ?? "").href.replace("https://kiln.test", "")),
    );
    expect(textOf(after, ".notice[data-tone=good]")).toContain("Press Clone");
  });

  it("has an icon, and lets browsers cache its files forever, under names with a hash", async () => {
    const answer = await visit("/favicon.ico", { redirect: "manual" });
    const icon = await env.ASSETS.fetch(`https://kiln.test${answer.headers.get("location")}`);
    expect([answer.status, icon.status]).toEqual([302, 200]);
    const style = (await pageOf(visit("/"))).querySelector("link[rel=stylesheet]")?.getAttribute("href") ?? "";
    expect(style).toMatch(/-[0-9a-f]{10}\.css$/);
    const cached = (await env.ASSETS.fetch(`https://kiln.test${style}`)).headers.get("cache-control");
    expect(cached).toBe("public, max-age=31536000, immutable");
  });
});

/** The address of the first card. */
async function firstOf(order: string): Promise<string | null | undefined> {
  const page = await pageOf(visit(`/gallery?order=${order}`));
  return page.querySelector(".card h3 a")?.getAttribute("href");
}

describe("the list", () => {
  it.each([
    ["search=kiosk", 1],
    ["search=library", 1],
    ["search=%22%20OR%201", 0],
    ["search=nothing-of-that-name", 0],
    ["order=latest", 1],
    ["username=nobody-of-that-name", 0],
    ["page=99", 0],
    ["base=tiny-1.0&arch=x86_64&format=oem&tag=library&order=rating", 1],
    ["search=kiosk&order=latest&format=oem", 1],
    ["base=debian-13", 0],
    ["arch=i586", 0],
    ["format=iso", 0],
    ["tag=librar", 0],
    ["format=nothing&arch=&order=", 1],
    ["page=x", 1],
  ])("with %s has %i", async (query, count) => {
    const answer = await visit(`/gallery?${query}`);
    expect(answer.status).toBe(200);
    expect((await pageOf(answer)).querySelectorAll(".card")).toHaveLength(count);
  });

  it("keeps the filters in its form, and clears them", async () => {
    const page = await pageOf(visit("/gallery?search=kiosk&format=oem&tag=library"));
    expect(page.querySelector("#format [selected]")?.getAttribute("value")).toBe("oem");
    expect(page.querySelector(".filters [name=search]")?.getAttribute("value")).toBe("kiosk");
    expect(page.querySelector(".filters [name=tag]")?.getAttribute("value")).toBe("library");
    expect(page.querySelector(".filters a")?.getAttribute("href")).toBe("/gallery?search=kiosk");
    expect((await pageOf(visit("/gallery?search=kiosk"))).querySelector(".filters a")).toBeNull();
  });

  it("puts the best rated first", async () => {
    const odo = await signedIn();
    const better = await publishedAppliance(odo);
    const judge = await signedIn();
    await judge.post(galleryPath(applianceId, "/rating"), { rating: 5 });
    await judge.post(galleryPath(better.applianceId, "/rating"), { rating: 2 });
    expect(await firstOf("rating")).toBe(`/gallery/${applianceId}`);
    expect(await firstOf("latest")).toBe(`/gallery/${better.applianceId}`);
    await odo.delete(galleryPath(better.applianceId, "/version/0.0.1"));
  });

  it("shows what was searched for as a text", async () => {
    const evil = `"><script>alert(1)</script>`;
    const html = await (await visit(`/gallery?${new URLSearchParams({ search: evil })}`)).text();
    expect(html).not.toContain("<script>alert");
    const page = await pageOf(visit(`/gallery?${new URLSearchParams({ search: evil })}`));
    expect(textOf(page, ".empty h3")).toBe(`Nothing found for “${evil}”`);
    expect(page.querySelector("#search-search")?.getAttribute("value")).toBe(evil);
  });

  it("lists what an account has published", async () => {
    const page = await pageOf(visit(`/gallery?username=${publisher.username}`));
    expect(textOf(page, "#published")).toBe(`Published by ${publisher.username} 1`);
  });
});
