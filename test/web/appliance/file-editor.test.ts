/** Files of an appliance: several are uploaded together, or one is written on a page. */
import { beforeEach, describe, expect, it } from "vitest";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { createAppliance } from "../../support/factories.ts";
import { contentCount, uploadFile } from "../../support/files.ts";
import { sendFiles } from "../../support/form-files.ts";
import { pageOf, textOf } from "../../support/html.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

const at = (path = "") => `/appliance/${id}/files${path}`;
const send = async (path: string, form: Record<string, string>) =>
  await firefox.post(at(path), { form_token: await firefox.formToken(), ...form });
const contentOf = async (fileId: string) => await (await firefox.get(`/files/${fileId}`)).text();

/** The hidden values of the form of a file's text, and the source of the page. */
async function editorOf(fileId: string) {
  const html = await (await firefox.get(at(`/${fileId}/text`))).text();
  return { sha256: /name="sha256" value="(\w+)"/.exec(html)?.[1] ?? "", html };
}

describe("several files", () => {
  it("come with one form, all or none", async () => {
    const fields = { path: "/srv", owner: "root", group: "root", permissions: "755" };
    const files = [new File(["one"], "one"), new File(["two"], "two")];
    expect((await sendFiles(firefox, at(), { fields, files })).status).toBe(303);
    const page = await pageOf(firefox.get(at()));
    expect(
      [...page.querySelectorAll("#main .rows summary .grow")].map(({ textContent }) => textContent?.trim()),
    ).toEqual(["/srv/one", "/srv/two"]);
    expect(page.querySelector("#upload-file")?.getAttribute("data-upload")).toBe("main");

    const before = await contentCount();
    const refused = await sendFiles(firefox, at(), {
      fields,
      files: [new File(["3"], "three"), new File(["4"], "..")],
    });
    expect([refused.status, await contentCount()]).toEqual([422, before]);
  });
});

describe("the editor of a file", () => {
  it("writes a file, and changes it", async () => {
    const form = { place: "/etc/motd", permissions: "600", text: "\nWelcome,\r\n\treader.", once: crypto.randomUUID() };
    expect((await send("/new", form)).headers.get("location")).toBe(at());
    await send("/new", form);
    const page = await pageOf(firefox.get(at()));
    expect(textOf(page, "#files")).toBe("Files 1");
    expect(textOf(page, "#main .rows summary")).toMatch(/^\/etc\/motd ?600/);
    const [, fileId = ""] =
      /files\/(\d+)\/text/.exec(page.querySelector("a[href$='/text']")?.getAttribute("href") ?? "") ?? [];

    expect(await contentOf(fileId)).toBe("\nWelcome,\n\treader.");
    const { sha256, html } = await editorOf(fileId);
    expect(html).toContain("\n\nWelcome,\n\treader.</textarea>");
    expect((await send(`/${fileId}/text`, { sha256, text: "Hello.\r\n" })).status).toBe(303);
    expect(await contentOf(fileId)).toBe("Hello.\n");
    const late = await send(`/${fileId}/text`, { sha256, text: "Mine." });
    expect(textOf(await pageOf(late), "[role=alert]")).toContain("changed since");
    expect(await contentOf(fileId)).toBe("Hello.\n");
  });

  it("gives a new file its owner, and names each wrong field", async () => {
    const form = { place: "/home/clerk/.ssh/authorized_keys", permissions: "600", text: "key" };
    expect((await send("/new", { ...form, owner: "clerk", group: "users" })).status).toBe(303);
    const listed = await pageOf(firefox.get(at()));
    expect(textOf(listed, "#main .rows summary")).toMatch(/600 ?clerk:users/);
    const wrong = await pageOf(send("/new", { ...form, owner: "no one" }));
    expect(wrong.querySelector("#owner")?.getAttribute("aria-invalid")).toBe("true");
    const file = listed.querySelector("details form")?.getAttribute("action")?.split("/").at(-1) ?? "";
    const refused = await pageOf(send(`/${file}`, { form: `file-${file}`, do: "change", owner: "no one" }));
    expect(refused.querySelector("li > details")?.hasAttribute("open")).toBe(true);
  });

  it("keeps the line ends that a file has, and shows its text as text", async () => {
    const { id: fileId } = await uploadFile(tux, id, "<script>\r\n</textarea>\r\n");
    const { sha256, html } = await editorOf(fileId);
    expect(html).toContain("&lt;script&gt;\r\n&lt;/textarea&gt;\r\n</textarea>");
    await send(`/${fileId}/text`, { sha256, text: "a\r\nb" });
    expect(await contentOf(fileId)).toBe("a\r\nb");
  });

  it.each([
    ["is binary", Uint8Array.of(0xff, 0xfe, 0)],
    ["has control characters", "\u001b[1m"],
    ["has mixed line ends", "a\r\nb\nc"],
    ["is long", "x".repeat(70_000)],
  ])("does not touch a file that %s", async (_, content) => {
    const { id: fileId } = await uploadFile(tux, id, content);
    expect((await firefox.get(at(`/${fileId}/text`))).status).toBe(404);
    expect((await send(`/${fileId}/text`, { sha256: "x", text: "y" })).status).toBe(404);
  });

  it("refuses an invalid path, and a file of another appliance", async () => {
    const wrong = await pageOf(send("/new", { place: "motd", text: "x" }));
    expect(textOf(wrong, ".wrong")).toBe("Enter a path such as /etc/motd.");
    expect((await send("/new", { place: "/../etc/motd", text: "x" })).status).toBe(422);
    const { id: fileId } = await uploadFile(tux, await createAppliance(tux), "x");
    expect((await firefox.get(at(`/${fileId}/text`))).status).toBe(404);
  });
});
