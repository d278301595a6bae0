/** The lists, pictures and keys of an appliance's configuration. */
import { beforeEach, describe, expect, it } from "vitest";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { pngOf } from "../../picture/png-maker.ts";
import { sendFiles } from "../../support/form-files.ts";
import { newKey } from "../../support/gpg-keys.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { configurationOf } from "#lib/configuration/stored";
import { rowOf } from "../../support/configurations.ts";
import { sshKeys } from "../../support/ssh-keys.ts";
import { readXml } from "../../support/xml.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

const at = (path: string) => `/appliance/${id}/configuration/${path}`;
const section = async (path: string) => await pageOf(firefox.get(at(path)));
const send = async (path: string, form: Record<string, string>) =>
  await firefox.post(at(path), { form_token: await firefox.formToken(), ...form });
const stored = async () => (await readXml(await tux.get(`/appliances/${id}/configuration`))).configuration;

/** The mark of an entry, by its name. */
async function entryOf(path: string, name: string): Promise<string> {
  const page = await section(path);
  const entry = [...page.querySelectorAll("ul.rows > li")].find((one) => textOf(one, "summary b") === name);
  return entry?.querySelector("[name=entry]")?.getAttribute("value") ?? "";
}

const users = async () => configurationOf(await rowOf(id)).users;
const upload = (path: string, fields: Record<string, string>, file?: File) =>
  sendFiles(firefox, at(path), { fields, files: file ? [file] : [] });

describe("the lists of the configuration", () => {
  it("have users, whose passwords are not shown", async () => {
    const refused = await send("users/entries", { form: "new-entry", name: "clerk" });
    expect(textOf(await pageOf(refused), "[role=alert]")).toBe("Password is needed.");
    const added = await send("users/entries", { name: "clerk", password: "quiet please" });
    expect([added.status, added.headers.get("location")]).toEqual([303, at("users")]);
    const twice = await send("users/entries", { form: "new-entry", name: "clerk", password: "x" });
    expect(textOf(await pageOf(twice), "[role=alert]")).toBe("There is clerk already.");

    const entry = await entryOf("users", "clerk");
    const change = { entry, group: "users", shell: "/bin/sh", homedir: "/home/clerk" };
    expect((await send("users/entries", change)).status).toBe(303);
    expect((await stored()).users.user).toMatchObject([
      { name: "root", password: "linux" },
      { name: "clerk", password: "quiet please", shell: "/bin/sh" },
    ]);
    const html = await (await firefox.get(at("users"))).text();
    expect(html).not.toMatch(/quiet please|value="linux"/);

    const late = await send("users/entries", { form: `entry-${entry}`, entry, remove: "true" });
    expect(textOf(await pageOf(late), "[role=alert]")).toContain("changed since");
    await send("users/entries", { entry: await entryOf("users", "clerk"), remove: "true" });
    expect((await stored()).users.user).toMatchObject({ name: "root", password: "linux" });
  });

  it("add the SSH keys of the account to a user with one button", async () => {
    expect(textOf(await section("users"), "#new-entry")).not.toContain("my SSH keys");
    await firefox.post("/account/ssh_keys", { form_token: await firefox.formToken(), ssh_keys: sshKeys.ecdsa });
    expect(textOf(await section("users"), "#new-entry")).toContain("Add with my SSH keys");
    await send("users/entries", { name: "clerk", my_keys: "add" });
    const entry = await entryOf("users", "root");
    const root = {
      entry,
      group: "root",
      shell: "/bin/sh",
      homedir: "/root",
      ssh_keys: sshKeys.ed25519,
      my_keys: "add",
    };
    expect((await send("users/entries", root)).status).toBe(303);
    expect((await users()).map(({ name, sshKeys: keys }) => [name, keys])).toEqual([
      ["root", [sshKeys.ed25519, sshKeys.ecdsa]],
      ["clerk", [sshKeys.ecdsa]],
    ]);
  });

  it("have SSH keys and administrators", async () => {
    const [keys, one] = [`${sshKeys.ed25519}\r\n\r\n ${sshKeys.ecdsa}`, sshKeys.ed25519];
    const wrong = await send("users/entries", { form: "new-entry", name: "Clerk", ssh_keys: "ssh-dss AAAA", uid: "x" });
    const refused = await pageOf(wrong);
    expect([...refused.querySelectorAll("#new-entry [role=alert] li")].map(({ textContent }) => textContent)).toEqual([
      "Number (uid): must be a number.",
      expect.stringMatching(/^Name: must be 1 to 32/),
      expect.stringMatching(/^DSA keys are refused/),
    ]);
    expect(refused.querySelector("#new-entry details.more")?.hasAttribute("open")).toBe(true);

    await send("users/entries", { name: "clerk", ssh_keys: keys, administrator: "true" });
    expect((await users())[1]).toMatchObject({ password: "", sshKeys: [one, sshKeys.ecdsa], administrator: true });
    const row = [...(await section("users")).querySelectorAll("li > details > summary")].at(-1)?.textContent;
    expect(row).toBe("clerkadministrator, 2 SSH keys, no password");

    const entry = await entryOf("users", "clerk");
    const withoutPassword = await send("users/entries", { form: `entry-${entry}`, entry, ssh_keys: one });
    const page = await pageOf(withoutPassword);
    expect(textOf(page, `#entry-${entry} [role=alert]`)).toBe("Enter a password.");
    expect(page.querySelector("details:has(> form)[open] b")?.textContent).toBe("clerk");
    await send("users/entries", { entry, ssh_keys: one, key_only: "true" });
    expect((await users())[1]).toMatchObject({ password: "", sshKeys: [one], administrator: false });
    await send("users/entries", { entry: await entryOf("users", "clerk"), password: "quiet please" });
    expect((await users())[1]).toMatchObject({ password: expect.stringMatching(/^sealed:/), sshKeys: [] });
  });

  it("ask again for a password that a refused form had", async () => {
    const answer = await send("users/entries", { form: "new-entry", name: "Clerk", password: "quiet please" });
    const page = await pageOf(answer);
    expect(textOf(page, "#new-entry-password-hint")).toContain("Enter it again if the field is empty");
    expect(await (await firefox.get(at("users"))).text()).not.toContain("quiet please");
  });

  it("have volumes, programs, and agreements", async () => {
    await send("machine/entries", { path: "/srv", size: "200" });
    const wrong = await send("machine/entries", { form: "new-entry", path: "/etc", size: "200" });
    const page = await pageOf(wrong);
    expect(textOf(page, "#new-entry [role=alert]")).toMatch(/^Directory: must be an absolute path/);
    expect(page.querySelector("#new-entry-path")?.getAttribute("aria-invalid")).toBe("true");
    expect((await send("machine/entries", { path: "/var", size: "much" })).status).toBe(422);
    await send("startup/entries", { command: "/usr/bin/counterd", user: "root", enabled: "true" });
    await send("agreements/entries", { eula: "Books\r\nstay here." });
    const entry = await entryOf("agreements", "Books");
    await send("agreements/entries", { entry, eula: "Books stay." });

    expect(textOf(await section("machine"), "details summary b")).toBe("/srv");
    await send("machine", {
      "settings/memory_size": "512",
      "settings/disk_size": "4",
      "settings/swap_size": "0",
      "settings/swap_in": "partition",
      "lvm/kind": "partitions",
      "lvm/enabled": "true",
      "lvm/volume_group": "roomVG",
    });
    expect(await stored()).toMatchObject({
      lvm: {
        enabled: "true",
        volume_group: "roomVG",
        volumes: { volume: { path: "/srv", size: "200" } },
      },
      autostarts: { autostart: { command: "/usr/bin/counterd", user: "root", enabled: "true" } },
      eulas: { eula: "Books stay." },
    });
    // XML does not show these.
    const machine = await section("machine");
    for (const name of ["settings/swap_in", "lvm/kind"])
      expect(machine.querySelector(`[name="${name}"] [selected]`)?.getAttribute("value")).toMatch(/^partitions?$/);
  });

  it("have the users of databases", async () => {
    const loans = { type: "pgsql", username: "loans", password: "return it", database_list: "loans, books" };
    await send("databases/entries", loans);
    await send("databases/entries", { type: "mysql", username: "loans", password: "other" });
    const entry = await entryOf("databases", "loans (PostgreSQL)");
    await send("databases/entries", { entry, database_list: "loans" });

    const { database } = (await stored()).databases;
    expect(database).toMatchObject([
      { type: "pgsql", users: { user: { username: "loans", password: "return it", database_list: "loans" } } },
      { type: "mysql", users: { user: { username: "loans", password: "other" } } },
    ]);
    await send("databases/entries", { entry: await entryOf("databases", "loans (PostgreSQL)"), remove: "true" });
    expect((await stored()).databases.database).toMatchObject({ type: "mysql" });
  });

  it("refuse an entry where there is no list", async () => {
    expect((await send("general/entries", { name: "x" })).status).toBe(404);
    expect((await send("nonsense/entries", { name: "x" })).status).toBe(404);
  });
});

describe("the pictures", () => {
  it.each(["logo", "background"])("has a %s that is replaced and removed", async (kind) => {
    const png = new File([pngOf(16, 16)], "x.png");
    const answer = await upload(`pictures/${kind}`, {}, png);
    expect([answer.status, answer.headers.get("location")], await answer.text()).toEqual([303, at("pictures")]);
    const image = (await section("pictures")).querySelector(`img[src^='/appliance/${id}/${kind}?']`);
    const shown = await firefox.get(image?.getAttribute("src") ?? "");
    expect([shown.status, shown.headers.get("content-type")]).toEqual([200, "image/png"]);
    const removed = await send(`pictures/${kind}/remove`, {});
    expect(removed.headers.get("location")).toBe(at("pictures"));
    const page = await section("pictures");
    expect(page.querySelector(`form[action$='/${kind}/remove']`)).toBeNull();
  });

  it("shows what is wrong with a file", async () => {
    const none = await pageOf(upload("pictures/logo", {}));
    expect(textOf(none, "#logo [role=alert]")).toBe("Choose a picture.");
    const text = await upload("pictures/logo", {}, new File(["<svg/>"], "x.svg"));
    expect([text.status, textOf(await pageOf(text), "#logo [role=alert]")]).toEqual([
      422,
      "The logo is not a PNG. Send a PNG.",
    ]);
    expect((await upload("pictures/logo", { form_token: "wrong" })).status).toBe(403);
  });
});

describe("the GPG keys", () => {
  it("are pasted or uploaded, shown by fingerprint, and removed", async () => {
    const pasted = { name: "Room", key: (await newKey()).toPublic().armor(), once: crypto.randomUUID() };
    expect((await send("keys", pasted)).headers.get("location")).toBe(at("keys"));
    await send("keys", pasted);
    const file = new File([(await newKey()).toPublic().armor()], "key.asc");
    expect((await upload("keys/file", { name: "Desk" }, file)).status).toBe(303);

    const page = await section("keys");
    expect(textOf(page, "section[aria-labelledby=key-list]")).toMatch(/Keys 2.*Room[0-9a-f]{4} .*Desk[0-9a-f]{4} /);
    const action = page.querySelector("form[action$='/delete']")?.getAttribute("action") ?? "";
    await firefox.post(action, { form_token: await firefox.formToken() });
    expect(textOf(await section("keys"), "#key-list")).toBe("Keys 1");
  });

  it("shows what is wrong with one", async () => {
    const answer = await send("keys", { form: "new-key", name: "Room", key: "no key" });
    expect(textOf(await pageOf(answer), "#new-key [role=alert]")).toMatch(/^This GPG key cannot be used/);
    expect(textOf(await pageOf(upload("keys/file", { name: "Room" })), "#key-file [role=alert]")).toContain("Choose");
  });
});
