/** The page of a published appliance, and the actions of users there. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { savePackages } from "#storage/packages";
import { checkRuns, repositories } from "#storage/schema";
import { browser } from "../../support/browser.ts";
import { signedIn, visit, type Client } from "../../support/client.ts";
import { createAppliance, createBuild } from "../../support/factories.ts";
import { bytesOf } from "../../support/fake-agent.ts";
import { galleryPath, publish, publishedAppliance } from "../../support/gallery.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { tinyRepository } from "../../support/repositories.ts";
import { agentClaims } from "../../api/every-call/agent.ts";
import { readXml } from "../../support/xml.ts";

const evil = `<script>alert(1)</script><img src=x onerror=alert(2)>`;
let publisher: Client;
let tux: Client;
let firefox: ReturnType<typeof browser>;
let applianceId: number;
let buildId: number;

/** An image in the API's list. */
interface Listed {
  build_id: number;
  image_type: string;
  file_name: string;
  download_url: string;
  use: { ways: { lines: string[] }[] };
}
beforeEach(async () => {
  [publisher, tux] = [await signedIn(), await signedIn()];
  ({ applianceId, buildId } = await publishedAppliance(publisher, { notes: `First.\n${evil}` }));
  firefox = browser();
  await firefox.beginSession(tux);
});

const seen = (path = "") => pageOf(firefox.get(`/gallery/${applianceId}${path}`));
const send = async (path: string, form: Record<string, string>) =>
  await firefox.post(`/gallery/${applianceId}${path}`, { form_token: await firefox.formToken(), ...form });

describe("a published appliance", () => {
  it("links the proof that its image is in the public log, for those who may download it", async () => {
    const link = (await seen()).querySelector("a[href$='.tlog-proof']");
    expect(textOf(await seen(), "a[href$='.tlog-proof']")).toMatch(/^log entry \d+ of oem$/);
    const proof = await firefox.get(new URL(link?.getAttribute("href") ?? "", "https://kiln.test").pathname);
    expect(await proof.text()).toMatch(/^c2sp.org\/tlog-proof@v1\nindex \d+\n/);
  });

  it("shows its version, notes, software and images, to everyone", async () => {
    const page = await pageOf(visit(`/gallery/${applianceId}`));
    expect(page.title).toBe("Kiosk 0.0.1 · Kiln");
    expect(textOf(page, "[aria-labelledby=notes]")).toContain(`First. ${evil}`);
    expect(textOf(page, "[aria-labelledby=images] tbody")).toMatch(/^oem disk or USB stick|^oemdisk/);
    expect(textOf(page, "[aria-labelledby=images] tbody")).toMatch(/provenance, log entry \d+/);
    expect(textOf(page, "[aria-labelledby=software]")).toContain("package");
    expect(textOf(page, "[aria-labelledby=rate]")).toContain("Sign in to rate it.");
    expect(textOf(page, "[aria-labelledby=facts]")).toMatch(/Base\s*Tiny Linux 1.0.*Boots by\s*BIOS\s*Memory\s*256 MB/);
    expect(textOf(page, "[aria-labelledby=images]")).toContain("Sign in to download an image");
    expect(page.querySelector('[href^="/download/"]')).toBeNull();
    expect(textOf(page, "#share-link")).toBe(`https://kiln.test/gallery/${applianceId}/0.0.1`);
    expect(await (await visit(`/gallery/${applianceId}`)).text()).not.toMatch(/<script>|<img src=x/);
  });

  it("shows when its image was checked to boot, and how long the login took", async () => {
    expect(textOf(await seen(), "[aria-labelledby=facts]")).not.toContain("it boots");
    const at = new Date("2026-11-20T12:00:00Z");
    const passed = { state: "passed" as const, checks: [], results: [], loginSeconds: 12.4 };
    const times = { createdAt: at, endedAt: at, wakeAt: at };
    await openDatabase(env)
      .insert(checkRuns)
      .values({ accountId: publisher.accountId, buildId, ...passed, ...times });

    expect(textOf(await seen(), "[aria-labelledby=facts]")).toMatch(
      /Checked\s*it boots, on .*20 November 2026.*, login after 12 s/,
    );
  });

  it("shows its largest packages with their sizes, as the repository had them", async () => {
    await listInMain([
      { name: "busybox", version: "1.35.0", installedBytes: 1_200_000 },
      { name: "kernel-default", version: "6.1.0", installedBytes: 300_000_000 },
    ]);
    const installed = ["busybox-1.35.0", "kernel-default-6.1.0", "of-no-repository-1.0"].map((text) => {
      const [, name = "", version = ""] = /^(.*)-(.*)$/.exec(text) ?? [];
      return { name, version, release: "1", arch: "x86_64" };
    });
    const { applianceId: weighed } = await createBuild(publisher, bytesOf("an image"), { installed });
    await publish(publisher, weighed);
    const page = await pageOf(visit(`/gallery/${weighed}`));
    expect(textOf(page, "[aria-labelledby=software] .weights")).toBe("kernel-default300 MBbusybox1.2 MB");
    expect(textOf(page, "[aria-labelledby=software] summary")).toBe("All 3 packages");
  });

  it.each(["/gallery/999999999", "/gallery/1", "/gallery/0/0.0.1"])(
    "is nothing where none is published: %s",
    async (path) => {
      const answer = await visit(path, { headers: { accept: "text/html" } });
      expect([answer.status, (await pageOf(answer)).title]).toEqual([404, "There is nothing here · Kiln"]);
    },
  );

  it("does not show one that is not published, nor a version that is not", async () => {
    const own = await createAppliance(tux);
    expect((await firefox.get(`/gallery/${own}`)).status).toBe(404);
    expect((await firefox.get(`/gallery/${applianceId}/9.9.9`)).status).toBe(404);
  });

  it("is downloaded with its documents by those who are signed in, until it is unpublished", async () => {
    const page = await seen();
    const links = [...page.querySelectorAll('[href^="/download/"]')].map((link) => link.getAttribute("href") ?? "");
    expect(links).toHaveLength(5);
    for (const link of links) expect((await visit(link)).status, link).toBe(200);
    expect(new Set(links.map((link) => link.split("/")[2])).size).toBe(1);
    expect(links[0]).not.toContain(
      (await readXml(await publisher.get(`/builds/${buildId}`))).build.download_url.split("/")[4],
    );
    await publisher.delete(galleryPath(applianceId, "/version/0.0.1"));
    for (const link of links) expect((await visit(link)).status, link).toBe(403);
  });

  it("shows what each image is, and gives the lines that start it", async () => {
    const use = (await pageOf(visit(`/gallery/${applianceId}`))).querySelector("[aria-labelledby=images] .use");
    expect(use?.textContent).toContain("A tar archive with a raw disk image");
    expect(use?.querySelector("pre")?.textContent).toMatch(/^tar -xzf \S+\.oem\.tar\.gz$/);
  });

  it("has the same images in the API, with how to start them", async () => {
    const answer = await tux.get(galleryPath(applianceId, "/images"), { headers: { accept: "application/json" } });
    const { images } = (await answer.json<{ gallery: { appliance: { images: Listed[] } } }>()).gallery.appliance;
    expect(images.map(({ build_id: id, image_type: type }) => [id, type])).toEqual([[buildId, "oem"]]);
    expect(images[0]?.use.ways[0]?.lines).toEqual([`tar -xzf ${images[0]?.file_name}`]);
    expect((await visit(new URL(images[0]?.download_url ?? "").pathname)).status).toBe(200);
  });

  it("compares a version with the one before", async () => {
    const { build } = await readXml(
      await publisher.post("/running_builds", { appliance_id: applianceId, version: "0.0.2" }),
    );
    const { fakeAgent } = await import("../../support/fake-agent.ts");
    await (await fakeAgent()).buildsSuccessfully(Number(build.id), bytesOf("another image"));
    await publish(publisher, applianceId, "0.0.2", "Second.");
    const page = await seen();
    const link = page.querySelector("[aria-labelledby=notes] p a")?.getAttribute("href") ?? "";
    expect(link).toBe(`/gallery/${applianceId}/0.0.2/difference/0.0.1`);
    expect(textOf(page, "#version")).toContain("0.0.1");
    expect(textOf(await pageOf(firefox.get(link)), "h1")).toBe("Kiosk: 0.0.2 compared with 0.0.1");
    expect(textOf(await seen("?version=0.0.1"), "[aria-labelledby=notes]")).toContain("First.");
  });

  it("is rated; a second rating replaces the first", async () => {
    for (const rating of ["2", "5"]) expect((await send("/rating", { rating })).status).toBe(303);
    const page = await seen();
    expect(textOf(page, ".title .rating")).toContain("Rated 5.0 of 5 by 1 person");
    expect(page.querySelector("[name=rating][checked]")?.getAttribute("value")).toBe("5");
    expect((await send("/rating", { rating: "6" })).status).toBe(422);
    expect((await send("/rating", {})).status).toBe(422);
  });

  it("is cloned under the person's name", async () => {
    const form = { form_token: await firefox.formToken(), clone_from: String(applianceId), arch: "x86_64", once: "1" };
    const first = await firefox.post("/appliances", form);
    const again = await firefox.post("/appliances", form);
    expect([first.status, again.headers.get("location")]).toEqual([303, first.headers.get("location")]);
    const page = await pageOf(firefox.get(first.headers.get("location") ?? ""));
    expect(textOf(page, "#result")).toContain("is yours now.");
    expect(textOf(page, "#result")).toMatch(/came along from its publisher.*Users: root\.$/);
    expect(textOf(page, "#result")).not.toMatch(/file/i);
    expect(textOf(page, "h1")).toContain("Kiosk");
  });

  it("counts the people who cloned and downloaded it, each once and not its publisher", async () => {
    const counted = async () => textOf(await pageOf(visit(`/gallery/${applianceId}`)), ".title .row");
    expect(await counted()).not.toMatch(/by [1-9]/);
    const link = async (who: Client) => {
      const answer = await who.get(galleryPath(applianceId, "/images"), { headers: { accept: "application/json" } });
      const { images } = (await answer.json<{ gallery: { appliance: { images: Listed[] } } }>()).gallery.appliance;
      return new URL(images[0]?.download_url ?? "").pathname;
    };
    const mine = await link(tux);
    await visit(mine, { method: "HEAD" });
    await visit(`${mine}.spdx.json`);
    await visit(await link(publisher));
    expect(await counted()).not.toContain("Downloaded");
    for (const path of [mine, mine, await link(await signedIn())]) await (await visit(path)).arrayBuffer();
    for (const who of [tux, tux, publisher]) await who.post("/appliances", { clone_from: applianceId });
    expect(await counted()).toMatch(/Cloned by 1\s*Downloaded by 2$/);
    const card = textOf(await pageOf(visit("/gallery?order=latest")), ".card .uses");
    expect(card).toMatch(/Cloned by 1\s*Downloaded by 2/);
    await publisher.delete(galleryPath(applianceId, "/version/0.0.1"));
    await publish(publisher, applianceId);
    expect(await counted()).toContain("Downloaded by 2");
  });

  it("is tried in a testdrive of one's own", async () => {
    const claims = agentClaims();
    const answer = await send("/0.0.1/testdrive", { once: "1" });
    await claims;
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^\/testdrive\/\d+\/[\w-]{32}$/);
    const drive = await pageOf(firefox.get(answer.headers.get("location") ?? ""));
    // The page has the guests' own origin, as for the owner.
    expect(drive.querySelector("#web")?.getAttribute("href")).toMatch(/^https:\/\/guests\.test\/testdrives\//);
    expect(textOf(drive, "#logins")).toContain("root");
    expect(textOf(await seen(), ".title")).toContain("Tried by 1");
  });
});

/** Lists packages in the repository main, as an import does. */
async function listInMain(packages: { name: string; version: string; installedBytes: number }[]): Promise<void> {
  const db = openDatabase(env);
  const importId = crypto.randomUUID();
  const main = eq(repositories.id, await tinyRepository("main"));
  await db.update(repositories).set({ importId }).where(main);
  const facts = { epoch: 0, release: "1", arch: "x86_64", summary: "", description: "", sizeBytes: 1 };
  await savePackages(
    db,
    importId,
    packages.map((one) => ({ ...facts, ...one })),
  );
}

/** Writes a comment, and returns its id. */
const said = async (text: string) =>
  /\d+$/.exec((await send("/comments", { text })).headers.get("location") ?? "")?.[0];

describe("comments", () => {
  it("are written, answered below each other, and are texts", async () => {
    const answer = await send("/comments", { text: `Works.\r\n${evil}`, form: "comment", once: "1" });
    expect(answer.headers.get("location")).toMatch(/#comment-\d+$/);
    const id = /\d+$/.exec(answer.headers.get("location") ?? "")?.[0] ?? "";
    await send("/comments", { text: "Thank you", parent: id, form: `reply-${id}` });
    const page = await seen();
    expect(textOf(page, `#comment-${id} > .breaks`)).toBe(`Works. ${evil}`);
    expect(textOf(page, `#comment-${id} li .breaks`)).toBe("Thank you");
    expect(await (await tux.get(galleryPath(applianceId, "/comments"))).text()).toContain("Works.\n&lt;script&gt;");
  });

  it("that are empty are not sent, and keep what was entered elsewhere", async () => {
    const answer = await send("/comments", { text: "", form: "comment" });
    expect(answer.status).toBe(422);
    const page = await pageOf(answer);
    expect(textOf(page, "#comment [role=alert]")).toBe("Write something first.");
    expect(page.querySelector("#comment-text")?.getAttribute("aria-invalid")).toBe("true");
  });

  it("are removed by the publisher and by who wrote them, and by no other", async () => {
    const ids = [await said("Hello"), await said("Hello again")];
    const [other, owner] = [browser(), browser()];
    await other.beginSession(await signedIn());
    await owner.beginSession(publisher);
    const remove = async (who: typeof other, id: string | undefined) =>
      (await who.post(`/gallery/${applianceId}/comments/${id}/remove`, { form_token: await who.formToken() })).status;
    expect(await remove(other, ids[0])).toBe(404);
    expect(await remove(owner, ids[0])).toBe(303);
    expect(await remove(firefox, ids[1])).toBe(303);
    expect(textOf(await seen(), "#comments .count")).toBe("0");
  });

  it("need someone who is signed in, and Kiln's own form", async () => {
    const stranger = await browser().post(`/gallery/${applianceId}/comments`, { text: "Hello" });
    expect([stranger.status, stranger.headers.get("location")]).toEqual([303, "/sign_in"]);
    const forged = await firefox.post(`/gallery/${applianceId}/comments`, { text: "Hello" });
    expect(forged.status).toBe(403);
    const foreign = await firefox.post(
      `/gallery/${applianceId}/comments`,
      { text: "Hello", form_token: await firefox.formToken() },
      { origin: "https://evil.test" },
    );
    expect(foreign.status).toBe(403);
    expect(textOf(await seen(), "#comments .count")).toBe("0");
  });
});
