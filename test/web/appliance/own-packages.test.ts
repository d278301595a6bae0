/** A user's own packages, and the chart of sizes, on the software page. */
import { beforeEach, describe, expect, it } from "vitest";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { sendFiles } from "../../support/form-files.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { rpmOf } from "../../support/packages.ts";
import { blobCount } from "../../support/rpm-uploads.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

const software = async (query = "") => await pageOf(firefox.get(`/appliance/${id}/software${query}`));
const send = (...files: File[]) => sendFiles(firefox, `/appliance/${id}/software/packages`, { files });
const rpm = (name: string) => new File([rpmOf(name)], `${name}.rpm`);

describe("the person's own packages", () => {
  it("are uploaded several at once, found, and deleted", async () => {
    const answer = await send(rpm("desk"), rpm("lamp"));
    expect([answer.status, answer.headers.get("location")], await answer.text()).toEqual([
      303,
      `/appliance/${id}/software`,
    ]);

    const page = await software("?q=lamp");
    expect(textOf(page, "#own")).toBe("Your packages 2");
    expect(textOf(page, "section[aria-labelledby=own] ul")).toMatch(/desk\.rpm.*lamp\.rpm/);
    expect(textOf(page, "#hits .name")).toBe("lamp");
    expect(textOf(page, "section[aria-labelledby=repos]")).toContain(tux.username);
    expect(page.querySelector("#own-packages")?.getAttribute("data-upload")).toBe("main");

    const action = page.querySelector("form[action$='/delete']")?.getAttribute("action") ?? "";
    await firefox.post(action, { form_token: await firefox.formToken() });
    expect(textOf(await software(), "#own")).toBe("Your packages 1");
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    const theirs = await stranger.post(action, { form_token: await stranger.formToken() });
    expect(theirs.status).toBe(404);
  });

  it("say what is wrong, and leave nothing behind", async () => {
    const before = await blobCount();
    const none = await send();
    expect([none.status, textOf(await pageOf(none), "#own-packages [role=alert]")]).toEqual([422, "Choose a package."]);
    const text = await send(rpm("desk"), new File(["no package"], "notes.rpm"));
    expect(text.status).toBe(422);
    expect(textOf(await pageOf(text), "#own-packages .wrong")).not.toBe("");
    expect(await blobCount()).toBe(before);
  });
});

describe("the picture of sizes", () => {
  it("shows the same as its list", async () => {
    const page = await software();
    const tiles = [...page.querySelectorAll(".treemap title")].map(({ textContent }) => textContent);
    const rows = [...page.querySelectorAll(".weights li")].map(
      (row) => `${textOf(row, "span")}, ${textOf(row, ".num")}`,
    );
    expect(rows.length).toBeGreaterThan(1);
    expect(tiles.length).toBeGreaterThan(1);
    expect(rows).toEqual(expect.arrayContaining(tiles));
    expect(page.querySelector(".treemap")?.getAttribute("aria-label")).toContain(rows[0]?.split(",")[0]);
    expect(page.querySelector(".treemap [style]")).toBeNull();
  });
});
