/** Forms with several fields: a refused form shows every error at its field, and keeps the values. */
import { beforeEach, describe, expect, it } from "vitest";
import { setBaseSystemFact } from "../../support/base-system-facts.ts";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { createBuild } from "../../support/factories.ts";
import { uploadFile } from "../../support/files.ts";
import { sendFiles } from "../../support/form-files.ts";
import { configure, publishedAppliance } from "../../support/gallery.ts";
import { hiddenFields, pageOf, textOf, type Page } from "../../support/html.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

/**
 * The names of the fields that the answer's form marks as invalid, and whether each has its message and a link to it.
 */
async function wrongFields(answer: Promise<Response>, form: string): Promise<string[]> {
  const given = await answer;
  expect(given.status).toBe(422);
  const page = await pageOf(given);
  const found = page.querySelector(form) ?? expect.fail(`no ${form}`);
  const wrong = [...found.querySelectorAll("[id$=-wrong]")].map((message) => message.id.replace(/-wrong$/, ""));
  const links = [...found.querySelectorAll("[role=alert] a")].map((link) => link.getAttribute("href")?.slice(1));
  expect(links.toSorted()).toEqual(wrong.toSorted());
  return wrong.map((each) => page.querySelector(`#${each}`)?.getAttribute("name") ?? each).toSorted();
}

const send = async (path: string, form: Record<string, string>) =>
  await firefox.post(path, { form_token: await firefox.formToken(), ...form });
const at = (path: string) => `/appliance/${id}/${path}`;
const valueOf = (page: Page, name: string) => page.querySelector(`[name=${name}]`)?.getAttribute("value");

describe("a refused form", () => {
  it.each([
    ["files/new", { place: "motd", owner: "no one", permissions: "rw" }, ["owner", "permissions", "place"]],
    ["files/new", { place: "/srv/../motd", group: "no one" }, ["group", "place"]],
    ["files/from_web", { form: "web-file", url: "gopher://x", path: "/.." }, ["path", "url"]],
    ["files/from_web", { form: "web-file", path: "/.." }, ["path", "url"]],
    ["configuration/keys", { form: "new-key", key: "no key" }, ["key", "name"]],
    ["software/repositories", { form: "import-repository", do: "import", name: "x".repeat(256) }, ["name", "url"]],
  ])("of %s with %j shows all faults", async (path, form, fields) => {
    const selector = "form" in form ? `#${form.form}` : `form[action='${at(path)}']`;
    expect(await wrongFields(send(at(path), form), selector)).toEqual(fields);
  });

  it("of a file's owner and mode shows all faults, and keeps the values", async () => {
    const { id: file } = await uploadFile(tux, id, "text");
    const form = { form: `file-${file}`, do: "change", path: "/..", owner: "no one", permissions: "rw" };
    const fields = await wrongFields(send(at(`files/${file}`), form), `#file-${file}`);
    expect(fields).toEqual(["owner", "path", "permissions"]);
    expect(valueOf(await pageOf(send(at(`files/${file}`), form)), "permissions")).toBe("rw");
  });

  it("of an upload also names the missing file", async () => {
    const fields = { path: "/..", owner: "no one" };
    const answer = sendFiles(firefox, at("files"), { fields, files: [] });
    expect(await wrongFields(answer, "#upload-file")).toEqual(["file", "owner", "path"]);
    const key = sendFiles(firefox, at("configuration/keys/file"), {
      fields: {},
      files: [new File(["no key"], "a.asc")],
    });
    expect(await wrongFields(key, "#key-file")).toEqual(["file", "name"]);
  });

  it("of a build names the version and the missing format", async () => {
    const answer = send(at("builds"), { form: "new-build", version: "9.9.9" });
    expect(await wrongFields(answer, "#new-build")).toEqual(["new-build-image_type", "version"]);
  });

  it("of a new entry names the taken name and what is missing", async () => {
    await send(at("configuration/users/entries"), { form: "new-entry", name: "clerk", password: "quiet please" });
    const answer = send(at("configuration/users/entries"), { form: "new-entry", name: "clerk" });
    expect(await wrongFields(answer, "#new-entry")).toEqual(["name", "password"]);
  });

  it("of a question shows the fault outside of its popover, which is closed", async () => {
    const { applianceId, buildId } = await publishedAppliance(tux);
    const page = await pageOf(firefox.get(`/appliance/${applianceId}/build`));
    const form = page.querySelector(`form[action$='/builds/${buildId}/delete']`);
    const refused = await send(`/appliance/${applianceId}/builds/${buildId}/delete`, hiddenFields(form));
    expect(refused.status).toBe(422);
    const shown = await pageOf(refused);
    expect(textOf(shown, "details[open] [role=alert]")).toContain("Unpublish it first.");
    expect(shown.querySelectorAll("[role=alert]")).toHaveLength(1);
    expect(shown.querySelector("[popover] [role=alert]")).toBeNull();
  });

  it("of a package's version opens the package", async () => {
    const form = { form: "pin-bash", do: "add", kind: "package", name: "bash", at: "chosen" };
    await send(at("software"), form);
    const page = await pageOf(send(at("software"), { ...form, version: "no version" }));
    expect(page.querySelector("details[open] #pin-bash [role=alert]")).not.toBeNull();
  });

  it("of a testdrive's data shows the builds again, with all faults and texts", async () => {
    await setBaseSystemFact("firstBoot", { "cloud-init": ["hello"] });
    const { applianceId, buildId } = await createBuild(tux);
    await configure(tux, applianceId, "<settings><first_boot>cloud-init</first_boot></settings>");
    const form = { form: `seed-${buildId}`, build_id: String(buildId), user_data: "hostname: a", meta_data: "- a" };
    const post = () => send("/testdrives", form);
    expect(await wrongFields(post(), `#seed-${buildId}`)).toEqual(["meta_data", "user_data"]);
    const page = await pageOf(post());
    const texts = page.querySelector(`#seed-${buildId} [name=user_data]`);
    expect(texts?.textContent).toBe("hostname: a");
    expect(page.querySelector(`details[open] #seed-${buildId}`)).not.toBeNull();
  });
});
