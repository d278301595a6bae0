/** Every page has a descriptive title, and no two titles are the same. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { web } from "#web/index";
import { browser, browserWith, sessionOf } from "../support/browser.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { createWebhook, newAddress } from "../support/webhooks.ts";
import { loadWithAgreement, tinyBase } from "../support/agreements.ts";
import { pageOf, textOf } from "../support/html.ts";
import { bootableBuild, startDrive } from "../support/testdrives.ts";
import { uploadFile } from "../support/files.ts";

let tux: Client;
let own: ReturnType<typeof browserWith>;
/** One URL of each page, by its route. */
let pages: Record<string, string>;

/** Routes that return no page: files, events, and redirects. */
const noPages = [
  "/gallery/:id{\\d{1,15}}/logo",
  "/gallery/:id{\\d{1,15}}/feed",
  "/gallery/:id{\\d{1,15}}/:version/screen",
  "/api/openapi.json",
  "/llms.txt",
  "/user/show_api_key",
  "/testdrive/:id/:pageToken/modified_files/archive",
  "/testdrive/:id/:pageToken/state",
  "/testdrive/:id/:pageToken/socket",
  "/appliance/edit/:id{\\d+}",
  "/appliance/:id{\\d+}/builds/:build{\\d+}/checks/:run{\\d+}/screen",
  "/appliance/:id{\\d+}/builds",
  "/appliance/:id{\\d+}/live",
  "/builds/:build{\\d+}/log",
  "/appliance/:id{\\d+}/configuration",
  "/appliance/:id{\\d+}/difference",
  "/files/:file{\\d+}",
  "/appliance/:id{\\d+}/software/effect",
  "/appliance/:id{\\d+}/:picture{(?:logo|background)}",
  "/favicon.ico",
  "/assets/*",
];

beforeAll(async () => {
  await loadTemplates();
  tux = await signedIn();
  own = browserWith((await sessionOf(tux)).secret);
  await operate("PUT", `/accounts/${tux.username}/operator`, { operator: true });
  const { applianceId: id, buildId } = await publishedAppliance(tux);
  const file = await uploadFile(tux, id, "hello", { name: "motd" });
  const webhook = await createWebhook(tux, newAddress());
  const drive = await startDrive(tux);
  await loadWithAgreement({ title: "The rules", text: "Be kind." });
  pages = {
    "/": "/",
    "/gallery": "/gallery?page=1&format=oem",
    "/gallery/:id{\\d{1,15}}": `/gallery/${id}`,
    "/gallery/:id{\\d{1,15}}/:version{\\d+\\.\\d+\\.\\d+}": `/gallery/${id}/0.0.1`,
    "/gallery/:id{\\d{1,15}}/:version/difference/:before": `/gallery/${id}/0.0.1/difference/0.0.1`,
    "/api/docs": "/api/docs",
    "/api/docs/:group": "/api/docs/software",
    "/agreements/:baseSystem": `/agreements/${tinyBase}`,
    "/sign_in": "/sign_in",
    "/status": "/status",
    "/help": "/help",
    "/account": "/account",
    "/account/sessions": "/account/sessions",
    "/account/webhooks": "/account/webhooks",
    "/account/webhooks/:id{\\d{1,15}}": `/account/webhooks/${webhook.id}`,
    "/account/storage": "/account/storage",
    "/account/audit_log": "/account/audit_log",
    "/testdrive/:id/:pageToken": drive.page,
    "/appliances": "/appliances",
    "/appliances/images": "/appliances/images",
    "/appliances/new": "/appliances/new",
    "/appliance/:id{\\d+}": `/appliance/${id}`,
    "/appliance/:id{\\d+}/build": `/appliance/${id}/build`,
    "/appliance/:id{\\d+}/builds/:build{\\d+}/log": `/appliance/${id}/builds/${buildId}/log`,
    "/appliance/:id{\\d+}/configuration/:section": `/appliance/${id}/configuration/general`,
    "/appliance/:id{\\d+}/difference/:from{\\d+}/:to{\\d+}": `/appliance/${id}/difference/${buildId}/${buildId}`,
    "/appliance/:id{\\d+}/files": `/appliance/${id}/files`,
    "/appliance/:id{\\d+}/files/new": `/appliance/${id}/files/new`,
    "/appliance/:id{\\d+}/files/:file{\\d+}/text": `/appliance/${id}/files/${file.id}/text`,
    "/appliance/:id{\\d+}/share": `/appliance/${id}/share`,
    "/appliance/:id{\\d+}/software": `/appliance/${id}/software`,
    "/service": "/service",
    "/service/accounts": "/service/accounts",
    "/service/accounts/:name": `/service/accounts/${tux.username}`,
  };
});

it("knows every page", () => {
  const routes = new Set(web.routes.filter(({ method }) => method === "GET").map(({ path }) => path));
  expect([...routes].toSorted()).toEqual([...noPages, ...Object.keys(pages)].toSorted());
});

it("has its own title and one heading on each", async () => {
  // The version that was published last has two URLs.
  const { "/gallery/:id{\\d{1,15}}": _same, ...others } = pages;
  const titles: string[] = [];
  for (const path of Object.values(others)) {
    const answer = await own.get(path, { accept: "text/html" });
    expect([path, answer.status]).toEqual([path, 200]);
    const page = await pageOf(answer);
    expect(page.querySelectorAll("h1").length, path).toBe(1);
    expect(textOf(page, "h1"), path).not.toBe("");
    expect(page.title, path).toMatch(/^\S.* · Kiln$/);
    titles.push(page.title);
  }
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});

const asked = async (asking: Promise<Response>) => {
  const answer = await asking;
  return { status: answer.status, title: (await pageOf(answer)).title };
};

describe("an error is a page with its own title if HTML is requested", () => {
  const html = { accept: "text/html" };
  it.each<[number, string, () => Promise<Response>]>([
    [404, "There is nothing here", () => own.get("/nothing", html)],
    [404, "There is nothing here", () => own.get("/appliance/999999", html)],
    [403, "You may not do this", () => own.post("/sign_out", {}, html)],
  ])("%i: %s", async (status, title, ask) => {
    expect(await asked(ask())).toMatchObject({ status, title: `${title} · Kiln` });
  });

  it("410: an image that was removed because of its age", async () => {
    const build = await bootableBuild(tux, { expiredAt: new Date(), imageKey: null });
    const path = `/download/${build.downloadToken}/${build.fileName}`;
    expect(await asked(own.get(path, html))).toMatchObject({ status: 410, title: "This no longer exists · Kiln" });
    expect((await visit(path)).headers.get("content-type")).toContain("xml");
  });

  it("429: too many wrong passwords, and how long to wait", async () => {
    const form = { name: tux.username, password: "wrong" };
    const tries = async () => {
      for (let n = 0; n < 22; n += 1) {
        const answer = await browser().post("/sign_in", form, html);
        if (answer.status === 429) return answer;
      }
      throw new Error("no attempt was refused");
    };
    const answer = await tries();
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await pageOf(answer)).title).toBe("Too many requests · Kiln");
  });

  it("500: without a detail of what went wrong", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const eve = await signedIn();
    const one = browserWith((await sessionOf(eve)).secret);
    await env.DB.prepare("UPDATE accounts SET api_key_cipher = 'damaged' WHERE id = ?").bind(eve.accountId).run();
    const answer = await one.get("/account", html);
    const page = await pageOf(answer);
    expect([answer.status, page.title]).toEqual([500, "Something went wrong in the service · Kiln"]);
    expect(textOf(page, "main")).not.toMatch(/decrypt|cipher|Error:|\.ts/);
    expect(logged).toHaveBeenCalled();
    logged.mockRestore();
  });
});
