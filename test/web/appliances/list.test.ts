/** A user's list of appliances: order, filters, and actions on several of them. */
import { env } from "cloudflare:workers";
import { inArray } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { examineAgain } from "#domain/appliances/overview";
import { saveFeed } from "#storage/advisories";
import { openDatabase } from "#storage/db";
import { appliances } from "#storage/schema";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, createSafeAppliance, startBuild } from "../../support/factories.ts";
import { publishedAppliance } from "../../support/gallery.ts";
import { pageOf, textOf, type Page } from "../../support/html.ts";
import { patienceMs } from "../../support/patience.ts";
import { isD1, withFate, type Fate } from "../../support/storage-faults.ts";

const db = openDatabase(env);
let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const list = (query = "") => pageOf(firefox.get(`/appliances${query}`));
const namesIn = (page: Page) => [...page.querySelectorAll(".appliances h2")].map(({ textContent }) => textContent);
const hasFilter = async (query: string) => (await list(query)).querySelector("[name=advisories]") !== null;
const names = async (query: string) => namesIn(await list(query));

/** Sends the form for the selected ones, like a browser: one field for each checked box. */
async function send(act: string, ids: readonly number[] = []): Promise<Response> {
  const body = new URLSearchParams({ form_token: await firefox.formToken(), form: "chosen", act });
  for (const id of ids) body.append("appliance", String(id));
  return await firefox.post(`/appliances/chosen?${body}`, {});
}

/** The queries that are needed to examine these appliances of one account. */
const queriesToExamine = async (ids: readonly number[]) => {
  const [first] = await db
    .select()
    .from(appliances)
    .where(inArray(appliances.id, [...ids]));
  let queries = 0;
  const fate: Fate = (name, call) => {
    queries += Number(isD1(name));
    return call();
  };
  await withFate(fate, () => examineAgain({ env, db }, Number(first?.accountId), ids));
  return queries;
};

describe("the list of appliances", () => {
  it("has a filter by advisories if the service knows any", async () => {
    await createAppliance(tux);
    expect([await hasFilter(""), await hasFilter("?advisories=open")]).toEqual([false, true]);
    await saveFeed(db, { feed: "osv", url: null, readAt: new Date() });
    expect(await hasFilter("")).toBe(true);
    await env.DB.exec("DELETE FROM advisory_feeds");
  });

  it("is ordered by name, by the last build or by age", async () => {
    const kiosk = await createAppliance(tux, { name: "kiosk" });
    const built = await createBuild(tux);
    await tux.put(`/appliances/${built.applianceId}/configuration`, named("Gateway"));
    await createAppliance(tux, { name: "Archive" });
    await tux.put(`/appliances/${kiosk}/configuration`, named("kiosk"));

    expect(await names("")).toEqual(["kiosk", "Archive", "Gateway"]);
    expect(await names("?order=name")).toEqual(["Archive", "Gateway", "kiosk"]);
    expect(await names("?order=built")).toEqual(["Gateway", "Archive", "kiosk"]);
    expect(await names("?order=created")).toEqual(["Archive", "Gateway", "kiosk"]);
    expect(await names("?order=size")).toHaveLength(3);
  });

  it("shows only those in a state, or with a tag", async () => {
    const broken = await createAppliance(tux, { name: "Broken" });
    await tux.post(`/appliances/${broken}/cmd/add_package`, { name: "no-such-package" });
    const tagged = await createSafeAppliance(tux, { name: "Desk" });
    await tux.put(`/appliances/${tagged}/configuration`, named("Desk", "<tags><tag>library</tag></tags>"));
    const busy = await createAppliance(tux, { name: "Busy" });
    await startBuild(tux, busy);
    for (const id of [broken, tagged, busy]) await tux.get(`/appliances/${id}/status`);

    expect(textOf(await list("?state=warning"), ".empty")).toMatch(/No appliance is like that.*See all/);
    const open = await createAppliance(tux, { name: "With a known password" });
    await tux.get(`/appliances/${open}/status`);
    expect(await names("?state=warning")).toEqual(["With a known password"]);
    expect(await names("?state=error")).toEqual(["Broken"]);
    expect(await names("?state=ok")).toEqual(["Desk"]);
    expect(await names("?state=running")).toEqual(["Busy"]);
    expect(await names("?state=unknown")).toEqual([]);
    expect(await names("?tag=library&state=ok&search=de")).toEqual(["Desk"]);
    expect(await names("?tag=attic")).toEqual([]);
    const page = await list("?tag=library");
    expect(textOf(page, "[name=tag]")).toBe("Any taglibrary");
    expect(page.querySelector("[name=tag] [selected]")?.getAttribute("value")).toBe("library");
    expect(textOf(page, "h1")).toBe("My appliances 1");
  });

  it("names the base system, and a conflict in one sentence", async () => {
    const id = await createAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });
    await tux.get(`/appliances/${id}/status`);
    const row = textOf(await list(), `#appliance-${id}`);
    expect(row).toContain("0.0.1 · Tiny Linux 1.0, ");
    expect(row).toContain("no-such-package");
    expect(row).not.toContain("(possible:");
  });

  it("examines all that no one has looked at, after it was seen once", async () => {
    for (let nth = 0; nth < 8; nth += 1) await createSafeAppliance(tux, { name: `Fresh ${nth}` });
    const page = await list();
    expect(textOf(page, ".appliances")).toContain("Being checked");
    expect(page.querySelector("[data-again]")?.getAttribute("data-ids")).toBe("found");
    await vi.waitFor(async () => expect(await names("?state=ok")).toHaveLength(8), { timeout: patienceMs });
    expect((await list()).querySelector("[data-again]")).toBeNull();
  });

  it("examines ten appliances with the queries of one", async () => {
    const one = await createSafeAppliance(tux);
    expect(await queriesToExamine([one])).toBeGreaterThan(0);
    const again = await queriesToExamine([one]);

    const ten: number[] = [];
    for (let nth = 0; nth < 10; nth += 1) ten.push(await createSafeAppliance(tux, { name: `One of ten ${nth}` }));
    expect(await queriesToExamine(ten)).toBe(again);
    expect(await names("?state=ok")).toHaveLength(11);
  });

  it("has a box for each, all of which one link checks", async () => {
    await createAppliance(tux);
    await createAppliance(tux);
    const boxes = async (query: string) => (await list(query)).querySelectorAll("[form=chosen][checked]").length;
    expect([await boxes(""), await boxes("?all=1")]).toEqual([0, 2]);
    expect(textOf(await list(), ".chosen-bar a")).toBe("Choose all of this page");
  });
});

describe("several appliances", () => {
  it("are built, and the result names those that are refused", async () => {
    const fresh = await createAppliance(tux, { name: "Fresh" });
    const broken = await createAppliance(tux, { name: "Broken" });
    await tux.post(`/appliances/${broken}/cmd/add_package`, { name: "no-such-package" });
    const foreign = await createAppliance(await signedIn());

    const answer = await send("build", [fresh, broken, foreign]);

    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/appliances"]);
    const page = await list();
    expect(textOf(page, "#result")).toMatch(/^1 build started\. *Broken: .*no-such-package/);
    expect(textOf(page, `#appliance-${fresh}`)).toContain("Waiting");
    expect(textOf(page, `#appliance-${broken}`)).toContain("Never built");
  });

  it("are deleted only after a question that names them", async () => {
    const ids = [await createAppliance(tux, { name: "One" }), await createAppliance(tux, { name: "Two" })];
    const kept = await createAppliance(tux, { name: "Kept" });
    const foreign = await createAppliance(await signedIn(), { name: "Foreign" });

    const asked = await send("delete", [...ids, foreign]);
    const page = await pageOf(asked);
    expect([asked.status, textOf(page, "h1")]).toEqual([200, "Delete 2 appliances?"]);
    expect(textOf(page, "main ul")).not.toContain("Foreign");
    expect((await names("?order=created")).toSorted()).toEqual(["Kept", "One", "Two"]);

    await send("yes, delete", [...ids, foreign]);
    expect(textOf(await list(), "#result")).toBe("2 appliances deleted.");
    expect(await names("")).toEqual(["Kept"]);
    expect(textOf(await pageOf(send(`delete ${kept}`, [])), "h1")).toBe("Delete Kept?");
  });

  it("stay if they are in the gallery, and the result says so", async () => {
    const { applianceId } = await publishedAppliance(tux);
    const plain = await createAppliance(tux, { name: "Plain" });
    await send("yes, delete", [applianceId, plain]);
    expect(textOf(await list(), "#result")).toMatch(/^1 appliance deleted\..*published in the gallery/);
  });

  it("must be chosen first", async () => {
    await createAppliance(tux);
    const answer = await send("build");
    expect(answer.status).toBe(422);
    expect(textOf(await pageOf(answer), "[role=alert]")).toContain("Choose at least one appliance");
    expect((await send("burn", [1])).status).toBe(422);
  });

  it("tell as many refusals as a cookie can hold", async () => {
    const ids: number[] = [];
    for (let nth = 0; nth < 20; nth += 1) {
      const id = await createAppliance(tux, { name: `${nth} ${"ä".repeat(200)}` });
      await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });
      ids.push(id);
    }
    const answer = await send("build", ids);
    const cookie = answer.headers.getSetCookie().find((one) => one.includes("kiln-result")) ?? "";
    expect(cookie.length).toBeLessThan(4_096);
    const told = textOf(await list(), "#result");
    const [, others] = /^No build has started\..*And (\d+) others\.$/.exec(told) ?? [];
    expect(told.match(/ä{5,}/g)?.length).toBe(20 - Number(others));
  });
});

const named = (name: string, more = "") => `<configuration><name>${name}</name>${more}</configuration>`;

describe("a button of a row", () => {
  it("builds or clones its appliance once, whatever is checked", async () => {
    const [desk, other] = [await createAppliance(tux, { name: "Desk" }), await createAppliance(tux, { name: "Other" })];
    const page = await list();
    const addressOf = (row: number, words: string) =>
      [...page.querySelectorAll(`#appliance-${row} button[formaction]`)]
        .find(({ textContent }) => textContent?.includes(words))
        ?.getAttribute("formaction") ?? "";
    const form_token = await firefox.formToken();
    const sendTo = (address: string, fields: [string, string][]) =>
      firefox.post(address, [["form_token", form_token], ["form", "chosen"], ["appliance", String(other)], ...fields]);

    const clone = addressOf(desk, "Clone");
    for (const _ of ["first", "second"]) expect((await sendTo(clone, [["clone_from", String(desk)]])).status).toBe(303);
    expect(await names("?order=created")).toHaveLength(3);

    const built = await sendTo(addressOf(desk, "Build"), [["image_type", "oem"]]);
    expect(built.headers.get("location")).toContain(`/appliance/${desk}/build`);
  });
});
