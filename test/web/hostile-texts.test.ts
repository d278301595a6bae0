/** No text that a user can write becomes part of a page's markup, on any page. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { web } from "../../src/web/index.ts";
import { sent } from "../api/every-call/send.ts";
import { browser } from "../support/browser.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { configure, galleryPath, publish } from "../support/gallery.ts";
import { addKey, newKey } from "../support/gpg-keys.ts";
import { parseHtml } from "../support/html.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { primaryXmlOf } from "../solver/repo-dsl.ts";

/** Breaks out of text, attributes, titles, text areas and scripts, if anything allows it. */
const hostile = `'"></title></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>{{7*7}}`;
const escaped = hostile.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
/** A hostile text for the name of a file, which has no slash. */
const hostileName = `'"><img src=x onerror=alert(2)><svg onload=alert(3)>`;
const website = `https://example.org/"onmouseover="alert(4)"><img src=x>`;

let tux: Client;
let firefox: ReturnType<typeof browser>;
/** The parameters of URLs, for each page. */
let given: Record<string, string>;

beforeAll(async () => {
  tux = await signedIn();
  firefox = browser({ userAgent: hostile });
  await firefox.beginSession(tux);
  const id = await createAppliance(tux, { name: hostile.slice(0, 255) });
  await configure(tux, id, settings);
  const { id: fileId } = await uploadFile(tux, id, hostile, {
    query: { filename: hostileName, path: `/${hostileName}` },
  });
  await addKey(tux, id, { query: { name: hostile, target: "rpm" }, body: (await newKey()).toPublic().armor() });
  await useRepository(id);
  const from = await built(id, "0.0.1");
  const to = await built(id, "0.0.2");
  for (const version of ["0.0.1", "0.0.2"]) await publish(tux, id, version, hostile);
  await sent({ method: "POST", path: galleryPath(id, "/comments"), body: { text: hostile }, credentials: tux });
  await failed(id);
  await operate("PUT", `/accounts/${tux.username}/operator`, { operator: true });
  const webhook = String(await addTokenAndWebhook());
  given = {
    webhook,
    name: tux.username,
    id: String(id),
    file: String(fileId),
    from: String(from),
    to: String(to),
    build: String(from),
  };
});

const settings = `<description>${escaped}</description><website>${website.replaceAll("<", "&lt;")}</website>
  <tags><tag>${escaped.slice(0, 49)}</tag></tags><eulas><eula>${escaped}</eula></eulas>
  <autostarts><autostart><command>${escaped}</command><description>${escaped}</description></autostart></autostarts>
  <scripts><build><enabled>true</enabled><script>${escaped}</script></build></scripts>`;

/** Returns the webhook's id. */
async function addTokenAndWebhook(): Promise<number> {
  const form_token = await firefox.formToken();
  const token = { form: "new-token", name: hostileName, scope: "read", term: "month" };
  const webhook = { form: "new-webhook", url: `https://hooks.example.org/${hostileName}?${hostileName}` };
  for (const [path, form] of [
    ["tokens", token],
    ["webhooks", { ...webhook, event: "build.failed" }],
  ] as const) {
    const answer = await firefox.post(`/account/${path}`, { ...form, form_token });
    const html = await answer.text();
    expect([answer.status, faultsIn(html, answer)], path).toEqual([200, []]);
  }
  const list = await firefox.get("/account/webhooks");
  return Number(/\/account\/webhooks\/(\d+)/.exec(await list.text())?.[1]);
}

/** Its metadata is as hostile as its name. */
async function useRepository(id: number): Promise<void> {
  const primary = primaryXmlOf(["hostile-1.0-1"]).replaceAll(
    /<(summary|description)[^>]*\/>|<(summary|description)>[^<]*<\/\2>/g,
    (_all, one = "", two = "") => `<${one || two}>${escaped}</${one || two}>`,
  );
  const url = "https://mirror.example.org/hostile";
  const mirror = mirrorOf({ [url]: rpmMd([], { primary }) });
  vi.spyOn(globalThis, "fetch").mockImplementation((address) => mirror.fetchOutside(String(address)));
  const form = { do: "import", url, name: hostile.slice(0, 255), form_token: await firefox.formToken() };
  const answer = await firefox.post(`/appliance/${id}/software/repositories`, form);
  expect(answer.status, await answer.text()).toBe(303);
}

async function built(id: number, version: string): Promise<number> {
  const buildId = await startBuild(tux, id, { version });
  await (await fakeAgent()).buildsSuccessfully(buildId, bytesOf(version));
  return buildId;
}

async function failed(id: number): Promise<void> {
  const buildId = await startBuild(tux, id, { version: "0.0.3" });
  const attempt = await (await fakeAgent()).claimsBuild(buildId);
  await attempt.writesLog(0, hostile);
  await attempt.call("fail", { kind: "failed", reason: hostile });
}

/** Routes that do not answer with a page, or that have their own tests for the output of programs. */
const noPages =
  /^\/(assets|pictures|favicon|testdrive|agreements|appliance\/edit|builds\/:build\{.*\}\/log|files\/:file|gallery\/:id\{.*\}\/(logo|feed)|appliance\/:id\{.*\}\/(live|:picture|software\/effect))|\.(json|txt)$/;

/** The query or suffix that leads to a page. */
const queries: Readonly<Record<string, string>> = {
  "/": `?search=${encodeURIComponent(hostile)}`,
  "/gallery": `?search=${encodeURIComponent(hostile)}&username=${encodeURIComponent(hostile)}`,
  "/appliances": `?search=${encodeURIComponent(hostile)}`,
  "/sign_in": `?to=${encodeURIComponent(`/${hostile}`)}`,
  software: `?q=hostile&look=${encodeURIComponent(hostile)}`,
};
const sections = ["general", "pictures", "users", "startup", "scripts", "agreements", "keys", "databases"];

/** The URLs of all pages, from the routes themselves, so that a new page cannot be forgotten. */
function addresses(): string[] {
  const routes = web.routes.filter(({ method, path }) => method === "GET" && !noPages.test(path));
  return [...new Set(routes.map(({ path }) => path))].flatMap((path) => {
    const filled = path
      .replace("/webhooks/:id", "/webhooks/:webhook")
      .replaceAll(/:(\w+)(\{[^/]*\})?/g, (whole, name: string) => given[name] ?? whole);
    const query = queries[path] ?? queries[path.split("/").at(-1) ?? ""] ?? "";
    if (filled.includes(":section")) return sections.map((section) => filled.replace(":section", section));
    if (/:version/.test(filled)) return [filled.replace(/:version.*$/, "0.0.1")];
    return [filled + query];
  });
}

describe("hostile texts", () => {
  it("stay texts on every page", async () => {
    const found: string[] = [];
    const shown = new Set<string>();
    const paths = addresses();
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const answer = await firefox.get(path, { accept: "text/html" });
      const html = await answer.text();
      if (html.includes("onerror=alert(2)")) shown.add(path);
      found.push(...faultsIn(html, answer).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
    const owner = [...shown].filter((path) => path.startsWith("/appliance/"));
    expect(owner.length, owner.join("\n")).toBeGreaterThan(10);
    for (const path of ["/appliances", `/gallery/${given["id"]}`, "/account", "/account/webhooks", "/service"])
      expect(
        [...shown].some((one) => one.startsWith(path)),
        path,
      ).toBe(true);
  });

  it("stay texts where a form is refused", async () => {
    const form_token = await firefox.formToken();
    const at = `/appliance/${given["id"]}`;
    const forms: [string, Record<string, string>][] = [
      [`${at}/configuration/users/entries`, { form: "new-entry", name: hostile, password: "x" }],
      [`${at}/configuration/general`, { name: hostile, version: hostile, description: hostile }],
      [`${at}/software`, { do: "add", kind: "package", name: hostile, version: hostile }],
      [`${at}/files/new`, { place: hostile, text: hostile }],
      [`${at}/files/from_web`, { form: "web-file", url: hostile, path: hostile }],
      [`${at}/share/readers`, { do: "add", username: hostile }],
      [`${at}/builds`, { image_type: hostile, version: hostile }],
      ["/account/tokens", { form: "new-token", name: hostile, scope: hostile, term: hostile }],
      ["/account/webhooks", { form: "new-webhook", url: hostile }],
      ["/service/accounts", { form: "new-account", username: hostile, email: hostile }],
      ["/service/read_only", { form: "read-only-on", mode: hostile, message: hostile }],
    ];
    for (const [path, fields] of forms) {
      const answer = await firefox.post(path, { ...fields, form_token });
      expect(answer.status, path).toBe(422);
      expect(faultsIn(await answer.text(), answer), path).toEqual([]);
    }
  });
});

/**
 * Content that a page must not have: elements and attributes of the texts, or a policy that would allow them to act.
 */
function faultsIn(html: string, { status, headers }: Response): string[] {
  const page = parseHtml(html);
  const elements = [
    "img[src=x]",
    "[onerror]",
    "[onload]",
    "[onmouseover]",
    "script:not([src^='/assets/'])",
    "main script",
  ];
  const links = [...page.querySelectorAll("a[href], form[action]")].map(
    (one) => one.getAttribute("href") ?? one.getAttribute("action") ?? "",
  );
  return [
    ...elements.filter((selector) => page.querySelector(selector) !== null),
    ...links.filter((link) => /^\s*(javascript|data):/i.test(link)),
    ...(/<(script>|img src=x|svg onload)/.test(html) ? ["the source has it"] : []),
    ...(/script-src 'self'/.test(headers.get("content-security-policy") ?? "") || status >= 300 ? [] : ["no policy"]),
    ...(status >= 500 ? [`status ${status}`] : []),
  ];
}
