/** The pages of an appliance's files, of its sharing, and of the difference of two builds. */
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, visit, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { fakeAgent } from "../../support/fake-agent.ts";
import { contentCount, uploadFile } from "../../support/files.ts";
import { hiddenFields, pageOf, parseHtml, textOf } from "../../support/html.ts";

const evil = `<img src=x onerror="alert(1)">`;
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const token = async () => ({ form_token: await firefox.formToken() });

const files = async (id: number) => await pageOf(firefox.get(`/appliance/${id}/files`));
const sharePage = async (id: number) => await pageOf(firefox.get(`/appliance/${id}/share`));

async function upload(id: number, fields: Record<string, string>, file?: File): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (file) form.append("file", file);
  const headers = { cookie: firefox.jar.cookie, origin: "https://kiln.test" };
  return await visit(`/appliance/${id}/files`, { method: "POST", body: form, headers, redirect: "manual" });
}

const motd = () => new File(["hello"], "motd");

describe("the files page", () => {
  it("uploads a file, changes it, hands it out and deletes it", async () => {
    const id = await createAppliance(tux);
    const fields = { ...(await token()), path: "/etc", owner: "root", group: "root", permissions: "600" };
    expect((await upload(id, fields, new File(["hello"], "motd"))).status).toBe(303);

    const page = await files(id);

    expect(textOf(page, "#main .rows summary")).toContain("/etc/motd");
    expect(textOf(page, "#main .rows summary code")).toBe("600");
    const link = page.querySelector(".rows a[href^='/files/']")?.getAttribute("href") ?? "";
    expect(await (await firefox.get(link)).text()).toBe("hello");

    const at = `/appliance/${id}${link}`;
    await firefox.post(at, { ...(await token()), do: "change", permissions: "640", filename: "issue" });
    expect(textOf(await files(id), "#main .rows summary")).toMatch(/^\/etc\/issue off640/);
    await firefox.post(at, { ...(await token()), do: "delete" });
    expect(textOf(await files(id), "#main")).toContain("No files yet");
  });

  it("adds a file once, though its form is sent again", async () => {
    const id = await createAppliance(tux);
    const before = await contentCount();
    const fields = { ...(await token()), once: crypto.randomUUID(), path: "/etc" };

    const [first, second] = [await upload(id, fields, motd()), await upload(id, fields, motd())];

    expect([first.status, second.status]).toEqual([303, 303]);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect([(await files(id)).querySelectorAll("#main .rows summary").length, await contentCount()]).toEqual([
      1,
      before + 1,
    ]);
    await upload(id, fields, new File(["hello"], "issue"));
    await upload(id, fields, new File(["hello!"], "motd"));
    expect((await files(id)).querySelectorAll("#main .rows summary").length).toBe(3);
  });

  it("adds a file once, though its form is sent twice at the same moment", async () => {
    const id = await createAppliance(tux);
    const before = await contentCount();
    const fields = { ...(await token()), once: crypto.randomUUID(), path: "/etc" };
    const send = () => upload(id, fields, new File(["hello"], "motd"));

    const [first, second] = await Promise.all([send(), send()]);

    expect([first.status, second.status]).toEqual([303, 303]);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect((await files(id)).querySelectorAll("#main .rows summary").length).toBe(1);
    expect(await contentCount()).toBe(before + 1);
  });

  it("leaves nothing behind of what it refuses", async () => {
    const id = await createAppliance(tux);
    const before = await contentCount();
    const refused = [
      await upload(id, { form_token: "wrong" }, new File(["hello"], "motd")),
      await upload(id, await token()),
      await upload(id, { ...(await token()), permissions: "rwx" }, new File(["hello"], "motd")),
      await upload(id, { ...(await token()), path: "/../etc" }, new File(["hello"], "motd")),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 422, 422, 422]);
    expect(await contentCount()).toBe(before);
  });

  it("shows hostile names as text, and nothing to others", async () => {
    const id = await createAppliance(tux);
    const { id: fileId } = await uploadFile(tux, id, "x", { query: { filename: evil.replaceAll("/", "") } });
    const page = await files(id);
    expect(textOf(page, "#main .rows summary")).toContain(evil);
    expect(page.querySelector("#main img[src=x]")).toBeNull();
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    expect((await stranger.get(`/appliance/${id}/files`)).status).toBe(404);
    expect((await stranger.get(`/files/${fileId}`)).status).toBe(404);
  });

  it("refuses an address that Kiln does not fetch from", async () => {
    const id = await createAppliance(tux);
    const form = { ...(await token()), form: "web-file", url: "http://127.0.0.1/x" };
    const answer = await firefox.post(`/appliance/${id}/files/from_web`, form);
    expect(answer.status).toBe(422);
  });
});

describe("the share page", () => {
  it("shares with an account and takes it back", async () => {
    const id = await createAppliance(tux);
    const friend = await signedIn();
    const at = `/appliance/${id}/share/readers`;
    await firefox.post(at, { ...(await token()), do: "add", username: friend.username });
    expect(textOf(await sharePage(id), "section[aria-labelledby=readers]")).toContain(friend.username);
    expect((await friend.get(`/appliances/${id}`)).status).toBe(200);

    await firefox.post(at, { ...(await token()), do: "remove", username: friend.username });
    expect((await friend.get(`/appliances/${id}`)).status).toBe(404);
    const unknown = await firefox.post(at, { ...(await token()), form: "add-reader", do: "add", username: "nobody" });
    expect(unknown.status).toBe(422);
    const { audit_log: log } = (await (
      await tux.get("/account/audit_log", { headers: { accept: "application/json" } })
    ).json()) as { audit_log: { event: string; by: string }[] };
    expect(log).toContainEqual(expect.objectContaining({ event: "appliance.shared", by: "page" }));
  });

  it("publishes a version once, with a draft of its notes, and takes it back", async () => {
    const { applianceId } = await createBuild(tux);
    const isChanged = /has changed since 0\.0\.1 was built/;
    expect(textOf(await sharePage(applianceId), "[aria-labelledby=publish]")).not.toMatch(isChanged);
    await uploadFile(tux, applianceId, "x", { query: { filename: "id_rsa", path: "/root/.ssh" } });
    const page = await sharePage(applianceId);
    expect(textOf(page, "[aria-labelledby=publish]")).toMatch(isChanged);
    expect(textOf(page, "[aria-labelledby=goes-along]")).toMatch(
      /^What a clone gets ?Usersroot.*Files\/root\/\.ssh\/id_rsa/,
    );
    expect(textOf(page, "textarea")).toMatch(/^The first version: .*It has 1 package; the download is /);
    expect([...page.querySelectorAll(".notice")].map(({ textContent }) => textContent).join()).toContain(
      "What others learn",
    );
    const at = `/appliance/${applianceId}/share/versions`;
    const form = { ...(await token()), do: "publish", version: "0.0.1", release_notes: "First", once: "x1" };

    const answers = [await firefox.post(at, form), await firefox.post(at, form)];

    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const published = await sharePage(applianceId);
    expect(textOf(published, "section[aria-labelledby=published]")).toContain("0.0.1");
    expect(textOf(published, "section[aria-labelledby=publish]")).toContain(
      "Every version that has an image is in the gallery.",
    );
    expect((await visit(`/gallery/${applianceId}/0.0.1`)).status).toBe(200);
    await firefox.post(at, { ...(await token()), do: "unpublish", version: "0.0.1" });
    expect((await visit(`/gallery/${applianceId}/0.0.1`)).status).toBe(404);
  });
});

it("shows the version and the notes of a refused publication again", async () => {
  const { applianceId } = await createBuild(tux);
  const second = await startBuild(tux, applianceId, { version: "0.0.2" });
  await (await fakeAgent()).buildsSuccessfully(second);
  expect(textOf(await sharePage(applianceId), "#publish-version button")).toBe("Publish 0.0.2");
  await startBuild(tux, applianceId, { version: "0.0.1", image_type: "iso", multi: "true" });
  const form = { ...(await token()), do: "publish", version: "0.0.1", release_notes: "About the first one" };

  const refused = await firefox.post(`/appliance/${applianceId}/share/versions`, { ...form, form: "publish-version" });

  expect(refused.status).toBe(422);
  const page = parseHtml(await refused.text());
  expect(textOf(page, "#publish-version button")).toBe("Publish 0.0.1");
  expect(hiddenFields(page.querySelector("#publish-version"))["version"]).toBe("0.0.1");
  expect(textOf(page, "textarea")).toBe("About the first one");
});

describe("the difference page", () => {
  it("compares two builds, which the form of the build page names", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const chosen = await firefox.get(`/appliance/${applianceId}/difference?from=${buildId}&to=${buildId}`);
    expect(chosen.headers.get("location")).toBe(`/appliance/${applianceId}/difference/${buildId}/${buildId}`);
    const page = await pageOf(firefox.get(chosen.headers.get("location") ?? ""));
    expect(textOf(page, "h2")).toBe("0.0.1 oem → 0.0.1 oem");
    expect(textOf(page, "main")).toContain("No package, no setting and no file differs.");
    expect((await firefox.get(`/appliance/${applianceId}/difference?from=x`)).status).toBe(400);
    const theirs = await createBuild(await signedIn());
    expect((await firefox.get(`/appliance/${applianceId}/difference/${buildId}/${theirs.buildId}`)).status).toBe(400);
  });
});
