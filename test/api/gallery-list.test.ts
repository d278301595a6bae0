import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { configure, galleryPath, publishedAppliance, sendText } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let rhea: Client;
let kiosk: number;
let farm: number;
let café: number;

const published = async (owner: Client, configuration: string) =>
  (await publishedAppliance(owner, { configuration })).applianceId;

beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
  kiosk = await published(
    tux,
    "<name>Ticket counter</name><description>Boots into &quot;zebracounter&quot;</description><website>https://kiosk.example.org</website><tags><tag>museum piece</tag></tags>",
  );
  farm = await published(rhea, "<name>Build farm zebrafarm</name>");
  café = await published(tux, "<name>Zebracafé</name>");
});

const list = async (query: string, client = rhea) => {
  const answer = await client.get(`/gallery/appliances?${query}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await readXml(answer)).gallery.appliances;
};

const entriesOf = (appliances: { appliance?: object | object[] }) =>
  [appliances.appliance ?? []].flat() as { id: string }[];
const idsOf = async (query: string) => entriesOf(await list(query)).map(({ id }) => Number(id));

describe("the gallery", () => {
  it("lists the newest publication first, with exactly eleven elements each", async () => {
    const page = await list("latest");

    expect(Object.keys(page)).toEqual(["pages", "current_page", "appliance", "@count"]);
    expect(page).toMatchObject({ "@count": "3", pages: "1", current_page: "1" });
    expect(await idsOf("latest")).toEqual([café, farm, kiosk]);
    const [, , first] = entriesOf(page);
    expect(Object.entries(first ?? {})).toEqual(
      Object.entries({
        id: String(kiosk),
        name: "Ticket counter",
        publisher: tux.username,
        username: tux.username,
        homepage: "https://kiosk.example.org",
        description: 'Boots into "zebracounter"',
        ratings: "0",
        average_rating: "0.0",
        comments: "0",
        based_on: "tiny-1.0",
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
      }),
    );
  });

  it.each([
    "latest",
    "latest=",
    "latest=''",
    "search=latest",
    "query=latest",
    "search",
    "search=",
    "query=search&search=",
  ])("treats ?%s as the latest", async (query) => {
    expect(await idsOf(query)).toEqual([café, farm, kiosk]);
  });

  it.each(["popular", "popular=''&per_page=5", "search=popular", "query=popular"])(
    "treats ?%s as the most popular",
    async (query) => {
      expect((await idsOf(query)).toSorted((one, other) => one - other)).toEqual([kiosk, farm, café]);
    },
  );

  it("lists those of one account", async () => {
    expect(await idsOf(`username=${tux.username}`)).toEqual([café, kiosk]);
    expect(await idsOf(`query=username&username=${rhea.username}`)).toEqual([farm]);
    const newcomer = await signedIn();
    expect(await list(`username=${newcomer.username}`)).toEqual({ "@count": "0", pages: "1", current_page: "1" });
  });

  it.each([
    ["", "unknown_query"],
    ["page=1", "unknown_query"],
    ["query=oldest", "unknown_query"],
    ["query=username", "unknown_query"],
    ["query=search", "unknown_query"],
    ["username=", "unknown_query"],
    ["username=nobody-here", "invalid_username"],
    ["latest&page=0", "invalid_value"],
    ["latest&page=-1", "invalid_value"],
    ["latest&page=one", "invalid_value"],
    ["latest&per_page=0", "invalid_value"],
    ["latest&per_page=1.5", "invalid_value"],
  ])("refuses ?%s", async (query, code) => {
    await expectError(await tux.get(`/gallery/appliances?${query}`), 400, code);
  });

  it("has pages, and one after the last is empty", async () => {
    expect(await list("latest&page=2&per_page=2")).toMatchObject({ "@count": "3", pages: "2", current_page: "2" });
    expect(await idsOf("latest&page=1&per_page=2")).toEqual([café, farm]);
    expect(await idsOf("latest&page=2&per_page=2")).toEqual([kiosk]);
    expect(await list("latest&page=9&per_page=2")).toEqual({ "@count": "3", pages: "2", current_page: "9" });
    expect(await idsOf("latest&page=&per_page=")).toEqual([café, farm, kiosk]);
    expect(await idsOf("latest&per_page=999999999")).toEqual([café, farm, kiosk]);
    expect(await idsOf("popular&page=999999999&per_page=100")).toEqual([]);
  });

  it("includes the total number of appliances in JSON", async () => {
    const answer = await rhea.get("/gallery/appliances?latest&per_page=1", { headers: { accept: "application/json" } });
    const { gallery } = await answer.json<{ gallery: { appliances: { appliance: object[] } } }>();
    expect(gallery.appliances).toMatchObject({ count: 3, pages: 3, current_page: 1 });
    expect(gallery.appliances.appliance).toHaveLength(1);
  });

  it("queries the database at most twice, plus the credentials", async () => {
    const prepared = vi.spyOn(env.DB, "prepare");
    await list(`username=${tux.username}`);
    expect(prepared.mock.calls.filter(([text]) => /\bgallery_listings\b/.test(text)).length).toBe(1);
    expect(prepared.mock.calls.length).toBeLessThanOrEqual(3);
    prepared.mockRestore();
  });

  it("hides unpublished versions", async () => {
    const hidden = await createAppliance(tux, { name: "Hidden zebracounter" });
    expect(await idsOf("search=zebracounter")).not.toContain(hidden);
  });
});

describe("the search", () => {
  it.each([
    ["a name", "ticket", () => [kiosk]],
    ["the beginning of a word", "zebra", () => [café, farm, kiosk]],
    ["a description", "zebracounter", () => [kiosk]],
    ["a tag", "museum", () => [kiosk]],
    ["a publisher", () => tux.username.toUpperCase(), () => [kiosk, café]],
    ["a package in the image", "busybox", () => [kiosk, farm, café]],
    ["words without their accents", "zebracafe", () => [café]],
    ["words with accents", "ZEBRACAFÉ", () => [café]],
    ["several words that must all occur", "ticket zebracounter", () => [kiosk]],
    ["several words, one of which does not occur", "ticket zebrafarm", () => []],
    ["punctuation among words", "ticket + counter!", () => [kiosk]],
    ["a word that does not occur", "okapi", () => []],
  ])("finds appliances by %s", async (_what, term, expected) => {
    const found = await idsOf(`search=${encodeURIComponent(typeof term === "string" ? term : term())}`);
    expect(found.toSorted()).toEqual(expected().toSorted());
  });

  it("ranks names before packages and descriptions", async () => {
    const [first] = await idsOf("search=zebracounter%20");
    expect(first).toBe(kiosk);
    expect((await idsOf("search=zebra")).at(-1)).toBe(kiosk);
  });

  it.each(
    [
      '"',
      '""',
      "'",
      "*",
      "name:",
      "name : zebra",
      "NEAR(",
      "NEAR(a b, 2)",
      "a AND",
      "NOT",
      "AND OR NOT",
      "(((",
      "^ticket",
      "-ticket",
      "{name description} : x",
      "ticket*",
      'tick"et',
      "\u0000",
      "a\u0000b",
      "%",
      "+++",
      "𓀀",
      "１２",
      "x ".repeat(2000),
      "'; DROP TABLE publications; --",
    ].map((term) => [encodeURIComponent(term).slice(0, 50), term] as const),
  )("supports no operators and never fails: %s", async (_written, term) => {
    await list(`search=${encodeURIComponent(term)}`);
    await list(`query=search&search=${encodeURIComponent(term)}&page=2`);
  });

  it("finds published data only, and only while it is published", async () => {
    const { applianceId } = await publishedAppliance(tux, { configuration: "<name>Quagga</name>" });
    await configure(tux, applianceId, "<name>Okapi</name>");
    expect(await idsOf("search=quagga")).toEqual([applianceId]);
    expect(await idsOf("search=okapi")).toEqual([]);

    await tux.delete(galleryPath(applianceId, "/version/0.0.1"));
    expect(await idsOf("search=quagga")).toEqual([]);
  });
});

const aged = (applianceId: number, days: number) =>
  env.DB.prepare("UPDATE gallery_listings SET popularity = popularity - ? WHERE appliance_id = ?")
    .bind(days / 180, applianceId)
    .run();
const order = async () => (await idsOf("popular")).filter((id) => [kiosk, farm, café].includes(id));

describe("popularity", () => {
  it("rises with other users' ratings, clones and testdrives; falls with age", async () => {
    const fans = await Promise.all([signedIn(), signedIn()]);
    expect(await order()).toEqual([café, farm, kiosk]);

    for (const fan of fans) await fan.post(galleryPath(kiosk, "/rating"), { rating: 5 });
    expect(await order()).toEqual([kiosk, café, farm]);

    for (const fan of fans) {
      for (let again = 0; again < 2; again += 1) await fan.post("/appliances", { clone_from: farm, arch: "x86_64" });
      await fan.post(galleryPath(farm, "/rating"), { rating: 3 });
    }
    expect(await order()).toEqual([farm, kiosk, café]);

    await aged(farm, 180);
    expect(await order()).toEqual([kiosk, farm, café]);
    await aged(farm, 450);
    expect(await order()).toEqual([kiosk, café, farm]);
  });

  it("ignores what owners do, and bad ratings", async () => {
    const before = await order();
    await tux.post(galleryPath(café, "/rating"), { rating: 5 });
    await tux.post("/appliances", { clone_from: café, arch: "x86_64" });
    await rhea.post(galleryPath(café, "/rating"), { rating: 1 });
    expect(await order()).toEqual(before);
    await sendText(rhea, "POST", galleryPath(café, "/comments"), { body: "Fine." });
    const entry = entriesOf(await list("search=zebracafé"))[0];
    expect(entry).toMatchObject({ ratings: "2", average_rating: "3.0", comments: "1" });
  });
});
