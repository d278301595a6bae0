/** The page on which builds are started, watched and fetched. */
import { beforeEach, describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { fakeAgent } from "../../support/fake-agent.ts";
import { publish } from "../../support/gallery.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { copyRow, unique } from "../../support/many-rows.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const builds = async (id: number) => await pageOf(firefox.get(`/appliance/${id}/build`));

/** The address of a link to another page of builds. */
const linkTo = (page: Awaited<ReturnType<typeof builds>>, words: string) =>
  [...page.querySelectorAll("#finished nav a")].find((link) => link.textContent?.includes(words))?.getAttribute("href");

describe("the build page", () => {
  it("offers every format, and has nothing finished at first", async () => {
    const page = await builds(await createAppliance(tux));
    expect([...page.querySelectorAll(".tiles input")].map((one) => one.getAttribute("value"))).toEqual([...imageTypes]);
    expect(page.querySelector(".tiles input[checked]")?.getAttribute("value")).toBe("oem");
    expect(textOf(page, "#finished")).toContain("No builds yet");
    expect(page.querySelector("[data-live], [data-log], noscript meta")).toBeNull();
  });

  it("shows a build that runs, follows its log, and cancels it", async () => {
    const id = await createAppliance(tux);
    const buildId = await startBuild(tux, id);

    const page = await builds(id);

    expect(textOf(page, "#running")).toMatch(/Number \d+ in the queue/);
    expect(page.querySelector("#running")?.getAttribute("data-live")).toBe(`/appliance/${id}/live`);
    expect(page.querySelector(".log")?.getAttribute("data-log")).toBe(`/builds/${buildId}/log?from=0`);
    expect(page.querySelector("noscript meta[http-equiv=refresh]")).not.toBeNull();

    const form = { form_token: await firefox.formToken() };
    const answer = await firefox.post(`/appliance/${id}/builds/${buildId}/cancel`, form);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/appliance/${id}/build`]);
    const after = await builds(id);
    expect(textOf(after, "#running")).toBe("");
    expect(textOf(after, "#finished")).toContain("Cancelled");
  });

  it("says that a build has already ended if it is cancelled too late", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const form = { form_token: await firefox.formToken() };
    await firefox.post(`/appliance/${applianceId}/builds/${buildId}/cancel`, form);
    expect(textOf(await builds(applianceId), "#result")).toContain("The build has already ended: finished.");
  });

  it("has the image with its checksums, documents and actions, and deletes it", async () => {
    const { applianceId, buildId } = await createBuild(tux);

    const page = await builds(applianceId);

    const image = page.querySelector("#finished details");
    if (!image) throw new Error("there is no image");
    const links = [...image.querySelectorAll("a")].map((one) => one.getAttribute("href") ?? "");
    expect(textOf(image, "summary")).toContain("0.0.1");
    expect(textOf(image, ".facts")).toMatch(/SHA-256[0-9a-f]{64}SHA-1[0-9a-f]{40}MD5[0-9a-f]{32}/);
    expect(textOf(image, ".inside > div:last-child")).toBe("Time of each stagePrepare 30 sPackages 1 min 30 s");
    expect(textOf(page, "#finished .columns")).toBe("VersionFormatFinishedDownloadDiskBuilt in");
    expect(links).toContain(`/appliance/${applianceId}/builds/${buildId}/log`);
    const downloads = links.filter((link) => link.startsWith("/download/"));
    expect(downloads).toHaveLength(4);
    expect((await firefox.get(downloads[0] ?? "")).status).toBe(200);
    expect((await firefox.get(`/builds/${buildId}/log`)).headers.get("content-type")).toMatch(/^text\/plain/);
    expect(textOf(image, `form[action="/testdrives"]`)).toContain("Testdrive");

    const form = { form_token: await firefox.formToken() };
    await firefox.post(`/appliance/${applianceId}/builds/${buildId}/delete`, form);
    expect(textOf(await builds(applianceId), "#finished")).toContain("No builds yet");
  });

  it("says which versions are published", async () => {
    const { applianceId } = await createBuild(tux);
    const words = async () => textOf(await builds(applianceId), `#finished a[href="/appliance/${applianceId}/share"]`);
    expect(await words()).toContain("Publish ");

    await publish(tux, applianceId);

    expect(await words()).toContain("Published ");
  });

  it("shows a hundred builds, and the older ones on further pages", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const failed = { status: "'failed'", uid: unique("uid"), download_token: unique("download_token") };
    await copyRow("builds", { id: buildId, times: 100, changes: failed });

    const newest = await builds(applianceId);
    const older = await pageOf(firefox.get((linkTo(newest, "Older") ?? "").replace(/#.*/, "")));

    expect(newest.querySelectorAll("#finished .rows > li")).toHaveLength(100);
    expect([textOf(newest, "#done"), linkTo(newest, "Newest")]).toEqual(["Finished", undefined]);
    expect(textOf(newest, "#failed")).toContain("0.0.1 oem failed");
    expect(older.querySelectorAll("#finished .rows > li")).toHaveLength(1);
    expect([textOf(older, "#done"), linkTo(older, "Older")]).toEqual(["Finished earlier", undefined]);
    expect(linkTo(older, "Newest")).toBe(`/appliance/${applianceId}/build#done`);
    expect([textOf(older, "#failed"), textOf(older, "#ended")]).toEqual(["", ""]);
    expect(older.querySelector(`#delete-${buildId}`)).not.toBeNull();
  });

  it("shows the progress and the end of a build, in its title and in a banner with the image", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const page = await builds(applianceId);
    expect(page.title).toBe("Finished · Build · Kiosk · Kiln");
    expect(textOf(page, "#ended .notice")).toMatch(/^0\.0\.1 oem is finished: .* to download/);
    expect(page.querySelector(`#ended form[action="/testdrives"] [name=build_id]`)?.getAttribute("value")).toBe(
      String(buildId),
    );
    expect(page.querySelector("#ended a[download]")?.getAttribute("href")).toMatch(/^\/download\//);

    await startBuild(tux, applianceId, { version: "0.0.2" });
    const running = await builds(applianceId);
    expect([running.title, textOf(running, "#ended")]).toEqual(["0 % · Build · Kiosk · Kiln", ""]);
  });

  it("keeps the values of a form that is refused, on its page", async () => {
    const { applianceId } = await createBuild(tux);
    const form = { form_token: await firefox.formToken(), form: "new-build", version: "0.0.1", image_type: "oem" };
    const answer = await firefox.post(`/appliance/${applianceId}/builds`, form);
    const page = await pageOf(answer);
    expect([answer.status, textOf(page, "nav.tabs [aria-current]")]).toEqual([422, "Build"]);
    expect(page.querySelectorAll("[role=alert]")).toHaveLength(1);
    expect(page.querySelector("#new-build [role=alert]")).not.toBeNull();
    expect(page.querySelector("#new-build [name=version]")?.getAttribute("value")).toBe("0.0.1");

    const iso = await pageOf(
      firefox.post(`/appliance/${applianceId}/builds`, { ...form, version: "x", image_type: "iso", force: "true" }),
    );
    expect(iso.querySelector("#new-build [name=version]")?.getAttribute("value")).toBe("x");
    expect([...iso.querySelectorAll("#new-build [checked]")].map((box) => box.getAttribute("value"))).toEqual([
      "iso",
      "true",
    ]);
  });

  it("asks before it builds what has not changed, and builds it then", async () => {
    const { applianceId } = await createBuild(tux);
    const at = `/appliance/${applianceId}/builds`;
    const form = { form_token: await firefox.formToken(), image_type: "oem" };
    const answer = await firefox.post(at, form);
    const page = await pageOf(answer);
    expect([answer.status, page.querySelectorAll("[role=alert]").length]).toEqual([422, 1]);
    expect(textOf(page, "#unchanged")).toMatch(
      /^Nothing has changed since 0\.0\.1 oem was built .*Build 0\.0\.2 anyway/,
    );
    expect(textOf(page, "nav.tabs [aria-current]")).toBe("Build");
    const unknown = await pageOf(firefox.post(at, { ...form, version: "0.0.9" }));
    expect(textOf(unknown, "[role=alert]")).toContain("The appliance has no version 0.0.9");
    expect(unknown.querySelector("#unchanged")).toBeNull();
    const again = [...page.querySelectorAll("#unchanged form input")].map((one) => one.getAttribute("name"));
    expect(again).toEqual(expect.arrayContaining(["version", "again", "image_type", "once"]));

    for (const command of ["add_package", "remove_package"])
      await tux.post(`/appliances/${applianceId}/cmd/${command}`, { name: "hello" });
    expect((await firefox.post(at, form)).status).toBe(422);
    const anyway = await firefox.post(at, { ...form, version: "0.0.2", again: "true" });
    expect(textOf(await builds(applianceId), "#running")).toContain("oem");
    expect(anyway.status).toBe(303);
  });

  it("builds what has changed, has another format or comes by the API, without a question", async () => {
    const { applianceId } = await createBuild(tux);
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    const form = { form_token: await firefox.formToken(), image_type: "oem" };
    expect((await firefox.post(`/appliance/${applianceId}/builds`, form)).status).toBe(303);
    const [asIso, byApi] = [await createBuild(tux), await createBuild(tux)];
    const iso = { ...form, image_type: "iso" };
    expect((await firefox.post(`/appliance/${asIso.applianceId}/builds`, iso)).status).toBe(303);
    await startBuild(tux, byApi.applianceId, { version: "0.0.2" });
  });

  it("shows why the last build failed, as text", async () => {
    const id = await createAppliance(tux);
    const buildId = await startBuild(tux, id);
    const agent = await fakeAgent();
    const evil = `<img src=x onerror="alert(1)">`;
    const attempt = await agent.claimsBuild(buildId);
    await attempt.beats({ phase: "Configuring the system", percent: 40 });
    expect(textOf(await builds(id), ".build-stages [aria-current]")).toMatch(/^Configure \d+ s$/);
    await attempt.call("fail", { kind: "failed", reason: `config.sh: ${evil}` });

    const page = await builds(id);

    expect(textOf(page, "#failed h2")).toMatch(/^0\.0\.1 oem failed .*, at Configure, after \d+ s$/);
    expect(textOf(page, "#failed")).toContain(`config.sh: ${evil}`);
    expect(page.querySelector("#failed img, #finished img")).toBeNull();
    expect(textOf(page, "#failed")).toContain("Build again");
  });

  it("does not exist for others, nor does the log", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    const form = { form_token: await stranger.formToken() };
    const answers = [
      await stranger.get(`/appliance/${applianceId}/build`),
      await stranger.get(`/appliance/${applianceId}/live`),
      await stranger.get(`/builds/${buildId}/log`),
      await stranger.post(`/appliance/${applianceId}/builds/${buildId}/delete`, form),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await browser().get(`/builds/${buildId}/log`)).headers.get("location")).toMatch(/^\/sign_in\?to=/);
  });
});
