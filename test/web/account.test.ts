/** The pages about the account: keys, tokens, webhooks, history, storage. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { auditEvents } from "#model/audit-events";
import { browser, browserWith, isSignedIn, sessionOf, statusOf } from "../support/browser.ts";
import { createAppliance } from "../support/factories.ts";
import { signedIn, withKey, type Client } from "../support/client.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { bootableBuild } from "../support/testdrives.ts";
import { pageOf, textOf, type Page } from "../support/html.ts";
import { announceOne } from "../support/events.ts";
import { sshKeys } from "../support/ssh-keys.ts";
import { tokenOf } from "../support/tokens.ts";
import { createWebhook, deliveriesOf, moveClock, newAddress, receiver, runDeliveries } from "../support/webhooks.ts";
import { readXml } from "../support/xml.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
let token: string;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browserWith((await sessionOf(tux)).secret);
  token = await firefox.formToken();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const send = (path: string, form: Record<string, string> = {}) => firefox.post(path, { form_token: token, ...form });
const onceIn = (page: Page, form: string) => page.querySelector(`#${form} [name=once]`)?.getAttribute("value") ?? "";

describe("/account", () => {
  it("asks others to sign in first, as the page of the key does for a browser", async () => {
    for (const path of ["/account", "/account/webhooks", "/account/storage", "/account/audit_log"]) {
      expect((await browser().get(path)).headers.get("location")).toContain("/sign_in?to=");
    }
    const key = await browser().get("/user/show_api_key", { accept: "text/html" });
    expect([key.status, key.headers.get("location")]).toEqual([303, "/sign_in?to=%2Fuser%2Fshow_api_key"]);
    expect((await firefox.get("/user/show_api_key")).headers.get("location")).toBe("/account");
  });

  it("shows the key folded in, and renews it after asking; this browser stays signed in", async () => {
    const other = browserWith((await sessionOf(tux)).secret);
    const page = await pageOf(firefox.get("/account"));
    expect(textOf(page, "details #api-key")).toBe(tux.apiKey);
    expect(textOf(page, "#renew-key")).toContain("Keep the key");
    expect((await send("/account/api_key")).headers.get("location")).toBe("/account");
    const renewed = textOf(await pageOf(firefox.get("/account")), "#api-key");
    expect(renewed).not.toBe(tux.apiKey);
    expect(await statusOf(tux.get("/account"))).toBe(401);
    expect(await statusOf(withKey(tux, renewed).get("/account"))).toBe(200);
    expect(await isSignedIn(other)).toBe(false);
  });

  it("stores SSH keys, each once, and keeps a refused text", async () => {
    await send("/account/ssh_keys", { ssh_keys: `${sshKeys.ed25519}\r\n\r\n${sshKeys.ecdsa}\n${sshKeys.ed25519}` });
    const wrong = await send("/account/ssh_keys", { ssh_keys: `${sshKeys.ed25519}\nssh-rsa AAAA` });
    const page = await pageOf(wrong);
    expect([wrong.status, textOf(page, ".wrong")]).toEqual([
      422,
      "SSH keys: key 2: the ssh-rsa key is truncated or damaged: copy its whole line.",
    ]);
    expect(textOf(page, "[name=ssh_keys]")).toBe(`${sshKeys.ed25519} ssh-rsa AAAA`);
    const stored = textOf(await pageOf(firefox.get("/account")), "[name=ssh_keys]");
    expect(stored).toBe(`${sshKeys.ed25519} ${sshKeys.ecdsa}`);
    const many = Array.from({ length: 21 }, (_, at) => `${sshKeys.ed25519}${at}`).join("\n");
    expect(textOf(await pageOf(send("/account/ssh_keys", { ssh_keys: many })), ".wrong")).toContain("more than 20");
  });

  it("changes the password for who knows the one before", async () => {
    const wrong = await send("/account/password", { password: "wrong", new_password: "battery staple" });
    expect([wrong.status, textOf(await pageOf(wrong), ".wrong")]).toEqual([422, "The password is wrong."]);
    const short = await send("/account/password", { password: "correct horse", new_password: "short" });
    expect(textOf(await pageOf(short), ".wrong")).toBe("A password must have 8 to 200 characters.");
    await send("/account/password", { password: "correct horse", new_password: "battery staple" });
    expect(textOf(await pageOf(firefox.get("/account")), "#result")).toContain("The password is changed.");
    expect((await browser().signIn(tux, "battery staple")).status).toBe(303);
  });
});

const rowsOf = async (path: string) =>
  [...(await pageOf(firefox.get(path))).querySelectorAll("[aria-labelledby=images] tbody tr")].map(
    (row) => /^Kiosk \d+\.\d+\.\d+|[\d,]+ MB|In the gallery/g[Symbol.match](row.textContent ?? "") ?? [],
  );

describe("/account/storage", () => {
  it("shows what is stored by kind, as the API does", async () => {
    await bootableBuild(tux, { fileSize: 3_000_000_000 });
    const page = await pageOf(firefox.get("/account/storage"));
    expect(textOf(page, ".storage dd")).toBe("3,000 MB");
    expect(page.querySelector(".bar rect")?.getAttribute("width")).not.toBe("0.00");
    const json = await (await tux.get("/account/limits", { headers: { accept: "application/json" } })).json();
    expect(json).toMatchObject({ limits: { images_bytes: 3_000_000_000, packages_bytes: 0, files_bytes: 0 } });
    expect(await (await tux.get("/account/limits")).text()).not.toContain("images_bytes");
  });

  it("lists what its images take with their file stores, the largest first, page by page", async () => {
    await bootableBuild(tux, { version: "0.0.1", fileSize: 900_000_000 });
    await bootableBuild(tux, { version: "0.0.4", fileSize: 780_000_000, filesSize: 50_000_000, deltaSize: 20_000_000 });
    await bootableBuild(tux, {
      version: "0.0.2",
      fileSize: 500_000_000,
      filesSize: 490_000_000,
      filesIndexSize: 10_000_000,
    });
    for (const gone of [
      { retiredAt: new Date() },
      { expiredAt: new Date() },
      { status: "failed" as const, fileSize: null },
    ]) {
      await bootableBuild(tux, gone);
    }
    await bootableBuild(await signedIn(), { fileSize: 2_000_000_000 });
    for (let more = 0; more < 50; more += 1) await bootableBuild(tux, { version: "0.0.3", fileSize: 700_000_000 });

    const page = await pageOf(firefox.get("/account/storage"));
    const first = await rowsOf("/account/storage");
    expect(first.slice(0, 3).map((row) => row.slice(0, 2))).toEqual([
      ["Kiosk 0.0.2", "1,000 MB"],
      ["Kiosk 0.0.1", "900 MB"],
      ["Kiosk 0.0.4", "850 MB"],
    ]);
    expect(first).toHaveLength(50);
    const { textContent } = page.querySelector("[aria-labelledby=images]") ?? {};
    expect(textContent).toContain("Kiln keeps its files one by one");
    const [withFiles, alone, withDelta] = [...page.querySelectorAll("[aria-labelledby=images] td.num")].map((one) =>
      one.textContent?.replaceAll(/\s+/g, " ").trim(),
    );
    expect([withFiles, alone, withDelta]).toEqual([
      "1,000 MBimage 500 MB + files 500 MB",
      "900 MB",
      "850 MBimage 780 MB + files 50 MB + update 20 MB",
    ]);
    const headings = [...page.querySelectorAll("[aria-labelledby=images] thead th")];
    expect(headings.map(({ textContent }) => textContent)).toEqual(["Image", "Size", "Actions"]);
    expect(page.querySelectorAll("[aria-labelledby=images] tbody tr:first-child > *")).toHaveLength(headings.length);
    const link = page.querySelector("nav[aria-label=Pages] a");
    expect(await rowsOf(link?.getAttribute("href") ?? "")).toHaveLength(3);
    expect(await rowsOf("/account/storage?after=x")).toHaveLength(50);
  });

  it("deletes an image, but none of the gallery and of no other account", async () => {
    const [own, published] = [await bootableBuild(tux), (await publishedAppliance(tux)).buildId];
    const foreign = await bootableBuild(await signedIn());
    expect((await send(`/account/storage/${own.id}/delete`)).headers.get("location")).toBe("/account/storage");
    expect(textOf(await pageOf(firefox.get("/account/storage")), "#result")).toBe("The build is deleted.");
    expect(await statusOf(tux.get(`/builds/${own.id}`))).toBe(404);
    expect((await rowsOf("/account/storage")).at(0)).toContain("In the gallery");
    expect((await send(`/account/storage/${published}/delete`)).status).toBe(422);
    expect(await statusOf(send(`/account/storage/${foreign.id}/delete`))).toBe(404);
  });
});

describe("a token", () => {
  it("is made with what it can do, and its secret is shown once", async () => {
    const once = onceIn(await pageOf(firefox.get("/account")), "new-token");
    const form = { form: "new-token", once, name: "Laptop", scope: "build", term: "month" };
    const made = await send("/account/tokens", form);
    const secret = textOf(await pageOf(made), "#fresh-secret");
    expect(await statusOf(withKey(tux, secret).get("/appliances"))).toBe(200);
    const again = await send("/account/tokens", form);
    expect([again.status, textOf(await pageOf(again), "[role=alert]")]).toEqual([
      422,
      "This was already done. Its secret was shown then, and is not shown again.",
    ]);
    const page = await pageOf(firefox.get("/account"));
    expect(textOf(page, "[aria-labelledby=tokens] tbody")).toMatch(
      /^Laptop ?read, change and build ?just now ?in 30 days/,
    );
    expect(textOf(page, "main")).not.toContain(secret);
    const { audit_log: log } = await readXml(await tux.get("/account/audit_log"));
    expect([log.entry].flat()[0]).toMatchObject({ event: "token.created", by: "page", scope: "build" });
  });

  it("is limited to an appliance that is chosen by its name", async () => {
    const kiosk = await createAppliance(tux, { name: "Kiosk" });
    const page = await pageOf(firefox.get("/account"));
    const suggested = page.querySelector("#new-token datalist option")?.getAttribute("value");
    expect(suggested).toBe(`Kiosk (${kiosk})`);
    const form = { form: "new-token", scope: "read", term: "month" };
    for (const [name, appliance] of Object.entries({ one: suggested, two: "Kiosk", three: String(kiosk) }))
      await send("/account/tokens", { ...form, name, appliance: appliance ?? "" });
    const rows = textOf(await pageOf(firefox.get("/account")), "[aria-labelledby=tokens] tbody");
    expect(rows.match(/read, only Kiosk/g)).toHaveLength(3);

    await createAppliance(tux, { name: "Kiosk" });
    const refusals = ["Kiosk", "Kisok", "999999999"].map(async (appliance) =>
      textOf(
        await pageOf(send("/account/tokens", { ...form, name: "x", appliance })),
        "details[open] > #new-token .wrong",
      ),
    );
    expect(await Promise.all(refusals)).toEqual([
      "Several appliances have this name: add the number.",
      "You have no appliance of this name.",
      "You have no appliance with this id.",
    ]);
  });

  it.each([
    [{ name: "x", term: "month" }, "Choose what it can do."],
    [{ scope: "read", term: "month" }, "Enter a name of at most 100 characters."],
  ])("needs %o", async (form, sentence) => {
    const answer = await send("/account/tokens", { form: "new-token", ...form });
    const page = await pageOf(answer);
    expect([answer.status, textOf(page, "#new-token .wrong, #new-token [role=alert] a")]).toEqual([422, sentence]);
  });

  it("is revoked, unless it is another account's", async () => {
    const [own, foreign] = [await tokenOf(tux), await tokenOf(await signedIn())];
    expect(await statusOf(send(`/account/tokens/${foreign.id}/revoke`))).toBe(404);
    await send(`/account/tokens/${own.id}/revoke`);
    expect(await statusOf(own.client.get("/appliances"))).toBe(401);
    expect(await statusOf(foreign.client.get("/appliances"))).toBe(200);
  });
});

describe("a webhook", () => {
  it("is added for chosen events, its secret is shown once, and it is deleted", async () => {
    const form = { form: "new-webhook", url: "https://hooks.example.org/a", event: "build.failed" };
    const made = await send("/account/webhooks", form);
    expect(textOf(await pageOf(made), "#fresh-secret")).toMatch(/^\S{20,}$/);
    const { webhooks } = await readXml(await tux.get("/webhooks"));
    expect(webhooks.webhook).toMatchObject({ url: form.url, events: { event: form.event } });
    const path = `/account/webhooks/${webhooks.webhook.id}`;
    expect(textOf(await pageOf(firefox.get(path)), "main")).toContain("Nothing was sent yet");
    expect((await send(`${path}/delete`)).headers.get("location")).toBe("/account/webhooks");
    expect(await statusOf(firefox.get(path))).toBe(404);
  });

  it("refuses an address inside, and says so at the field", async () => {
    const answer = await send("/account/webhooks", { form: "new-webhook", url: "http://127.0.0.1/" });
    expect([answer.status, textOf(await pageOf(answer), "#new-webhook .wrong")]).toEqual([
      422,
      "The url points to a private network.",
    ]);
  });

  it("shows its deliveries, and sends one again", async () => {
    moveClock();
    const address = newAddress();
    const { posted } = receiver(address);
    const { id } = await createWebhook(tux, address);
    await announceOne(tux, "build.queued");
    await runDeliveries(tux);
    expect(posted).toHaveLength(1);
    const page = await pageOf(firefox.get(`/account/webhooks/${id}`));
    expect(textOf(page, "[aria-labelledby=deliveries] tbody")).toMatch(/build\.queued.*Delivered ?200/);
    const action = page.querySelector("[aria-labelledby=deliveries] form")?.getAttribute("action") ?? "";
    expect((await send(action)).status).toBe(303);
    await runDeliveries(tux);
    expect(await deliveriesOf(tux, id)).toHaveLength(2);
    const eve = browserWith((await sessionOf(await signedIn())).secret);
    expect(await statusOf(eve.post(action, { form_token: await eve.formToken() }))).toBe(404);
  });
});

describe("the history", () => {
  it("shows what was done in every event, and with what", async () => {
    const about = {
      appliance_id: 1000,
      version: "1.2.3",
      username: "rhea",
      token_name: "nightly",
      channel: "stable",
      advisory: "CVE-2026-1",
    };
    const detail = JSON.stringify({ ...about, quota: "50GB", call: "PUT /quota", agent: "host-1" });
    for (const event of auditEvents) {
      await env.DB.prepare(
        "INSERT INTO audit_log (account_id, event, actor, detail, at, minute) VALUES (?, ?, 'key', ?, ?, 0)",
      )
        .bind(tux.accountId, event, detail, Date.now())
        .run();
    }
    const page = await pageOf(firefox.get("/account/audit_log"));
    const said = [...page.querySelectorAll("tbody th")].map((row) => (row.textContent ?? "").trim());
    expect(new Set(said).size).toBe(auditEvents.length);
    expect(said.filter((words) => words === "" || words.includes("undefined"))).toEqual([]);
    const named = ["1.2.3 of appliance 1000", "rhea", "nightly", "50GB", "PUT /quota", "host-1"];
    expect(named.map((word) => said.filter((words) => words.includes(word)).length)).toEqual([2, 2, 2, 1, 1, 6]);
  });

  it("shows what was done, page by page", async () => {
    const now = Date.now();
    for (let n = 0; n < 52; n += 1) {
      await env.DB.prepare(
        "INSERT INTO audit_log (account_id, event, actor, detail, address, at, minute) VALUES (?, 'token.revoked', 'key', ?, '192.0.2.7', ?, ?)",
      )
        .bind(tux.accountId, JSON.stringify({ token_id: n }), now, n)
        .run();
    }
    const page = await pageOf(firefox.get("/account/audit_log"));
    expect(textOf(page, "tbody tr")).toMatch(/The token token 51 was revoked ?API key ?192\.0\.2\.7/);
    expect(page.querySelectorAll("tbody tr")).toHaveLength(50);
    const earlier = page.querySelector("nav[aria-label=Pages] a")?.getAttribute("href") ?? "";
    expect((await pageOf(firefox.get(earlier))).querySelectorAll("tbody tr").length).toBeGreaterThanOrEqual(2);
  });
});
