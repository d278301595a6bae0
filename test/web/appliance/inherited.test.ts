/** Passwords and SSH keys in a clone of another account's appliance. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import { configurationOf } from "#lib/configuration/stored";
import { openDatabase } from "#storage/db";
import { listOverlayFiles } from "#storage/overlay-files";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { rowOf } from "../../support/configurations.ts";
import { uploadFile } from "../../support/files.ts";
import { configure, publish } from "../../support/gallery.ts";
import { createBuild } from "../../support/factories.ts";
import { pageOf, textOf, type Page } from "../../support/html.ts";
import { sshKeys } from "../../support/ssh-keys.ts";
import { readXml, type XmlDocument } from "../../support/xml.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
let id: number;

const keyFiles = ["/root/.ssh/authorized_keys", "/etc/ssh/ssh_host_ed25519_key"];

/** A clone of an appliance that another account has published. */
beforeEach(async () => {
  const publisher = await signedIn();
  const { applianceId } = await createBuild(publisher);
  const keeper = "<user><uid>1000</uid><name>keeper</name><password>quiet please</password><group>users</group></user>";
  await configure(publisher, applianceId, `<users><user><name>root</name></user>${keeper}</users>`);
  for (const place of [...keyFiles, "/etc/motd"]) {
    const at = place.lastIndexOf("/");
    const query = { path: place.slice(0, at), filename: place.slice(at + 1) };
    await uploadFile(publisher, applianceId, "content", { query });
  }
  await publish(publisher, applianceId);
  [tux, firefox] = [await signedIn(), browser()];
  await firefox.beginSession(tux);
  id = await clone(applianceId);
});

async function clone(of: number): Promise<number> {
  const { appliance } = await readXml(await tux.post("/appliances", { clone_from: of }));
  return Number(appliance.id);
}

const overview = (of = id) => pageOf(firefox.get(`/appliance/${of}`));
const replace = async (form: Record<string, string> = {}) =>
  await firefox.post(`/appliance/${id}/access`, { form_token: await firefox.formToken(), once: "1", ...form });
const users = async () => configurationOf(await rowOf(id)).users;
const filesOf = async () => (await listOverlayFiles(openDatabase(env), id)).map(overlayPath);
/** Reads them like the owner's programs. */
async function passwordsOf(): Promise<string[][]> {
  const { user } = (await readXml(await tux.get(`/appliances/${id}/configuration`))).configuration.users;
  return user.map(({ name, password }: XmlDocument) => [name, password]);
}
/** Each user with the password that the page shows. */
function passwordsIn(page: Page): string[][] {
  const texts = (tag: string) =>
    [...page.querySelectorAll(`[aria-labelledby=replaced-title] ${tag}`)].map((one) => one.textContent ?? "");
  const passwords = texts("dd");
  return texts("dt").map((user, at) => [user, passwords[at] ?? ""]);
}

describe("a clone of another account's appliance", () => {
  it("lists the users and files that let others in", async () => {
    const panel = textOf(await overview(), "[aria-labelledby=inherited]");
    expect(panel).toContain("root, keeper");
    for (const file of keyFiles) expect(panel).toContain(file);
    expect(panel).not.toContain("motd");
  });

  it("replaces them immediately, shows the new passwords, and lists nothing more", async () => {
    const page = await pageOf(replace());
    const shown = passwordsIn(page);
    expect(shown.map(([user]) => user)).toEqual(["root", "keeper"]);
    for (const [, password] of shown) expect(password).toMatch(/^[a-zA-Z2-9]{16}$/);
    expect(textOf(page, "[aria-labelledby=replaced-title]")).toContain(`Removed: ${keyFiles.join(", ")}.`);
    expect(await passwordsOf()).toEqual(shown);
    expect(await filesOf()).toEqual(["/etc/motd"]);
    expect((await overview()).querySelector("#inherited")).toBeNull();
  });

  it("does it once if the form is sent twice", async () => {
    const first = passwordsIn(await pageOf(replace()));
    const again = await replace();
    expect([again.status, textOf(await pageOf(again), "[role=alert]")]).toEqual([
      422,
      "This was already done. Its secret was shown then, and is not shown again.",
    ]);
    expect(await passwordsOf()).toEqual(first);
  });

  it("lets the person's own SSH keys in, if wanted", async () => {
    expect((await overview()).querySelector("[name=keys]")).toBeNull();
    await firefox.post("/account/ssh_keys", { form_token: await firefox.formToken(), ssh_keys: sshKeys.ed25519 });
    expect((await overview()).querySelector("[name=keys]")?.hasAttribute("checked")).toBe(true);
    const page = await pageOf(replace({ keys: "add" }));
    expect(textOf(page, "[aria-labelledby=replaced-title]")).toContain("Your SSH keys let you in as root, keeper.");
    expect((await users()).map(({ sshKeys: keys }) => keys)).toEqual([[sshKeys.ed25519], [sshKeys.ed25519]]);
  });

  it("keeps a password that was set since, and what a clone of the clone has", async () => {
    const mine =
      "<users><user><name>root</name><password>my own</password></user><user><name>keeper</name></user></users>";
    await configure(tux, id, mine);
    const second = await clone(id);
    expect(passwordsIn(await pageOf(replace())).map(([user]) => user)).toEqual(["keeper"]);
    expect(textOf(await overview(second), "[aria-labelledby=inherited]")).toContain("keeper");
  });
});

it("is not offered for a clone of a template, nor for another account's appliance", async () => {
  const own = await clone(1);
  expect((await overview(own)).querySelector("#inherited")).toBeNull();
  const form = { form_token: await firefox.formToken() };
  expect((await firefox.post(`/appliance/${own}/access`, form)).status).toBe(422);
  const other = browser();
  await other.beginSession(await signedIn());
  const stranger = await other.post(`/appliance/${id}/access`, { form_token: await other.formToken() });
  expect(stranger.status).toBe(404);
  expect((await users()).length).toBe(2);
});
